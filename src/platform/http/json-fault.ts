import { textFault } from './fields.js';

/** No body of this API nests deeper than a script's conditions do; the libraries behind it recurse. */
const MAX_DEPTH = 32;

/** Names that JavaScript gives a meaning of their own: libraries that copy objects stumble over them. */
const RESERVED = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Looks through a parsed JSON body, without recursion, for what can neither be stored nor be handed on safely: too
 * deep nesting, reserved names, U+0000 and unpaired surrogates.
 * @returns one sentence that begins with the path of the first fault, or undefined
 */
export function jsonFault(body: object): string | undefined {
  const open: { value: object; path: string; depth: number }[] = [{ value: body, path: '', depth: 1 }];
  for (let item = open.pop(); item; item = open.pop()) {
    for (const [key, value] of Object.entries(item.value) as [string, unknown][]) {
      const path = item.path === '' ? shown(key) : Array.isArray(item.value) ? `${item.path}[${key}]` : `${item.path}.${shown(key)}`;
      if (RESERVED.has(key)) return `${path} is not a known field`;
      const fault = textFault(key);
      if (fault) return `${path} ${fault} in its name`;
      if (typeof value === 'string') {
        const textual = textFault(value);
        if (textual) return `${path} ${textual}`;
      } else if (typeof value === 'object' && value !== null) {
        if (item.depth >= MAX_DEPTH) return `${path} must not be nested deeper than ${MAX_DEPTH} levels`;
        open.push({ value, path, depth: item.depth + 1 });
      }
    }
  }
  return undefined;
}

/** A name as it may stand in an answer: short and well-formed, whatever the client sent. */
const shown = (key: string): string => key.slice(0, 100).toWellFormed().replaceAll('\u0000', '\uFFFD');
