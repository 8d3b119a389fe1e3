/** A step into JSON: a member, an item, or JSON within a string. */
type Step = string | number | typeof INNER;
const INNER = Symbol('JSON in a string');
/** In place of a member: one more, with a hostile name. */
const NAME = Symbol('a name');

/** A field that a platform sends: where in which kind of message. */
export interface Field {
  readonly kind: string;
  readonly path: readonly (Step | typeof NAME)[];
}

/** For the names of tests. */
export const shownField = ({ kind, path }: Field): string =>
  `${kind} ${path.map((step) => (typeof step === 'symbol' ? `(${step.description})` : step)).join('.')}`;

/** Messages of a kind have the same names, and the same value of what names their type. */
function kindOf(message: object): string {
  const { type, event, object, role } = message as Record<string, unknown>;
  const name = [type, event, object, role].find((value) => typeof value === 'string');
  return `${String(name ?? '')}{${Object.keys(message).sort().join(',')}}`;
}

/** All fields of a message of JSON: every value that is not an object, and a further name in every object. */
export function fieldsOf(json: string): Field[] {
  const message = parsed(json);
  return message === undefined ? [] : pathsOf(message).map((path) => ({ kind: kindOf(message), path }));
}

function pathsOf(value: unknown): Field['path'][] {
  if (typeof value === 'string') {
    const inner = parsed(value);
    return inner === undefined ? [[]] : [[], ...pathsOf(inner).map((path) => [INNER, ...path] as const)];
  }
  if (typeof value !== 'object' || value === null) return [[]];
  const isList = Array.isArray(value);
  const inside = Object.entries(value).flatMap(([name, inner]) =>
    pathsOf(inner).map((path) => [isList ? Number(name) : name, ...path] as const),
  );
  return isList ? inside : [...inside, [NAME]];
}

/** @returns the message with other JSON in the field; undefined if it has no such field */
export function withField(json: string, { kind, path }: Field, raw: string): string | undefined {
  const message = parsed(json);
  return message !== undefined && kindOf(message) === kind ? replaced(message, path, raw) : undefined;
}

function replaced(value: unknown, path: Field['path'], raw: string): string | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return raw;
  if (step === INNER) {
    const inner = typeof value === 'string' ? replaced(parsed(value), rest, raw) : undefined;
    return inner === undefined ? undefined : JSON.stringify(inner);
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (step === NAME) {
    const members = JSON.stringify(value).slice(1, -1);
    // A name is a string: other JSON becomes the value of one.
    const member = raw.startsWith('"') ? `${raw}:1` : `"more":${raw}`;
    return `{${[...(members === '' ? [] : [members]), member].join(',')}}`;
  }
  if (!Object.hasOwn(value, step)) return undefined;
  const inner = replaced((value as Record<Step, unknown>)[step], rest, raw);
  if (inner === undefined) return undefined;
  const isList = Array.isArray(value);
  const members = Object.entries(value).map(([name, other]) => {
    const text = name === String(step) ? inner : JSON.stringify(other);
    return isList ? text : `${JSON.stringify(name)}:${text}`;
  });
  return isList ? `[${members.join(',')}]` : `{${members.join(',')}}`;
}

function parsed(json: string): object | undefined {
  if (!/^\s*[[{]/.test(json)) return undefined;
  try {
    return JSON.parse(json) as object;
  } catch {
    return undefined;
  }
}
