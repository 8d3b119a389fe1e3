import { invalidInput } from '../../../platform/errors/domain-error.js';
import { type FileItem, mustFit } from './file-item.js';
import { isTooDeep, MAX_DEPTH } from './json-depth.js';
import { jsonErrorPosition } from './json-position.js';

/** @throws DomainError BAD_REQUEST */
export function readJson(text: string): FileItem[] {
  if (isTooDeep(text)) throw invalidInput(`body must not be nested deeper than ${MAX_DEPTH} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidInput(`body must be valid JSON${place(text)}`);
  }
  return listItems(value);
}

/** Position of the error, as the end of a sentence; empty if it cannot be determined. */
function place(text: string): string {
  try {
    const { line, column } = jsonErrorPosition(text);
    return `: error at line ${line}, column ${column}`;
  } catch {
    return '';
  }
}

/** The items of the list in a file. */
export function listItems(value: unknown): FileItem[] {
  if (!Array.isArray(value)) throw invalidInput('body must be a list of evaluations');
  // Checked first: a small file can contain millions of items.
  mustFit(value.length);
  return value.map((item: unknown, index) => ({ value: item, place: `[${index}]`, separator: '.', violations: [] }));
}

export const writeJson = {
  head: '[',
  item: (item: object, isFirst: boolean): string =>
    `${isFirst ? '' : ','}\n  ${JSON.stringify(item, null, 2).replaceAll('\n', '\n  ')}`,
  tail: (isEmpty: boolean): string => (isEmpty ? ']\n' : '\n]\n'),
};
