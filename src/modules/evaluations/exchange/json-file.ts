import { invalidInput } from '../../../platform/errors/domain-error.js';
import type { FileItem } from './file-item.js';
import { jsonFaultPosition } from './json-position.js';
import { MAX_ITEMS } from './media-types.js';

/** @throws DomainError BAD_REQUEST */
export function readJson(text: string): FileItem[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidInput(`body must be valid JSON${place(text)}`);
  }
  return listItems(value);
}

/** Where the fault is, as the end of a sentence; nothing for a text that is too much for the one who looks for it. */
function place(text: string): string {
  try {
    const { line, column } = jsonFaultPosition(text);
    return `: it is not at line ${line}, column ${column}`;
  } catch {
    return '';
  }
}

/** The items of a list that a file holds. */
export function listItems(value: unknown): FileItem[] {
  if (!Array.isArray(value)) throw invalidInput('body must be a list of evaluations');
  // Before anything is made of them: a small file can hold millions.
  if (value.length > MAX_ITEMS) throw invalidInput(`body must hold at most ${MAX_ITEMS} evaluations`);
  return value.map((item: unknown, index) => ({ value: item, place: `[${index}]`, separator: '.', faults: [] }));
}

export const writeJson = {
  head: '[',
  item: (item: object, isFirst: boolean): string =>
    `${isFirst ? '' : ','}\n  ${JSON.stringify(item, null, 2).replaceAll('\n', '\n  ')}`,
  tail: (isEmpty: boolean): string => (isEmpty ? ']\n' : '\n]\n'),
};
