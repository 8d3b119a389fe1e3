const MAX_NAME_LENGTH = 100;

/** A name that someone sent as it may stand in an answer: short, well-formed and never empty. */
export function shownName(name: string): string {
  if (name === '') return '""';
  const short = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
  return short.toWellFormed().replaceAll('\u0000', '\uFFFD');
}

/** Steps from the evaluation to a value inside it: names of fields and positions in lists. */
export type Path = readonly (string | number)[];

/** A path as issues show it, as in `checks[2].pattern`. */
export function shown(path: Path): string {
  return path.reduce<string>((before, step) => {
    if (typeof step === 'number') return `${before}[${step}]`;
    return before === '' ? shownName(step) : `${before}.${shownName(step)}`;
  }, '');
}

/** What is wrong and where. */
export interface Violation {
  readonly path: Path;
  /** The rest of a sentence that begins with the path. */
  readonly text: string;
}

export const sentence = ({ path, text }: Violation): string => (path.length === 0 ? text : `${shown(path)} ${text}`);
