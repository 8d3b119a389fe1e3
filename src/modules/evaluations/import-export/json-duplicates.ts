import { type Position, positionOf } from './json-position.js';

const SPACE = /\s*/y;

/**
 * The first name that an object of valid JSON has twice: `JSON.parse` keeps the last value silently, so that part of
 * a file would not be tested.
 */
export function duplicateName(text: string): (Position & { readonly name: string }) | undefined {
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{' || character === '[') open.push(new Set());
    else if (character === '}' || character === ']') open.pop();
    else if (character === '"') {
      const start = at;
      at = endOfString(text, start);
      SPACE.lastIndex = at + 1;
      SPACE.exec(text);
      if (text[SPACE.lastIndex] !== ':') continue;
      const name = JSON.parse(text.slice(start, at + 1)) as string;
      if (open.at(-1)?.has(name)) return { name, ...positionOf(text, start) };
      open.at(-1)?.add(name);
    }
  }
  return undefined;
}

/** Index of the quotation mark that ends the string. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
