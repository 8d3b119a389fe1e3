import { invalidInput } from '../../../platform/errors/domain-error.js';
import type { FileItem } from './file-item.js';
import { jsonFaultPosition } from './json-position.js';

/** @throws DomainError BAD_REQUEST */
export function readJson(text: string): FileItem[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column } = jsonFaultPosition(text);
    throw invalidInput(`body must be valid JSON: it is not at line ${line}, column ${column}`);
  }
  return listItems(value);
}

/** The items of a list that a file holds. */
export function listItems(value: unknown): FileItem[] {
  if (!Array.isArray(value)) throw invalidInput('body must be a list of evaluations');
  return value.map((item: unknown, index) => ({ value: item, place: `[${index}]`, separator: '.', faults: [] }));
}

export const writeJson = {
  head: '[',
  item: (item: object, isFirst: boolean): string =>
    `${isFirst ? '' : ','}\n  ${JSON.stringify(item, null, 2).replaceAll('\n', '\n  ')}`,
  tail: (isEmpty: boolean): string => (isEmpty ? ']\n' : '\n]\n'),
};
