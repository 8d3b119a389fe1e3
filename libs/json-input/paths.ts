import { shownName } from './text.js';

/** Steps from the root to a value inside it: field names and list positions. */
export type Path = readonly (string | number)[];

/** One violation of a rule. */
export interface Violation {
  readonly path: Path;
  /** The rest of a sentence that begins with the path. */
  readonly text: string;
}

/** Formats a path as in issues, for example `checks[2].pattern`. */
export function shownPath(path: Path): string {
  return path.reduce<string>((before, step) => {
    if (typeof step === 'number') return `${before}[${step}]`;
    return before === '' ? shownName(step) : `${before}.${shownName(step)}`;
  }, '');
}

/** The violation as one sentence, for example `checks[2].pattern is required`. */
export const sentence = ({ path, text }: Violation): string =>
  path.length === 0 ? text : `${shownPath(path)} ${text}`;
