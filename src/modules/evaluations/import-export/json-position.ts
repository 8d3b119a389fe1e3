/** Position in a text, from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR =
  /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/**
 * Finds the first syntax error in a text that JSON.parse rejected: its messages contain the position only sometimes, in
 * different formats.
 */
export function jsonErrorPosition(text: string): Position {
  const open: ('[' | '{')[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const take = (character: string): boolean => {
    match(SPACE);
    if (text[at] !== character) return false;
    at += 1;
    return true;
  };
  const name = (): boolean => {
    match(SPACE);
    return text[at] === '"' && match(SCALAR) !== undefined && take(':');
  };
  /** After a value: closes lists and objects. @returns whether another value follows */
  const next = (): boolean => {
    for (let kind = open.at(-1); kind; kind = open.at(-1)) {
      if (take(',')) return kind === '[' || name();
      if (!take(kind === '[' ? ']' : '}')) return false;
      open.pop();
    }
    return false;
  };
  for (;;) {
    if (take('[')) {
      if (!take(']')) {
        open.push('[');
        continue;
      }
    } else if (take('{')) {
      if (!take('}')) {
        open.push('{');
        if (!name()) break;
        continue;
      }
    } else if (match(SCALAR) === undefined) break;
    if (!next()) break;
  }
  match(SPACE);
  return positionOf(text, at);
}

/** @param at index of a character */
export function positionOf(text: string, at: number): Position {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
