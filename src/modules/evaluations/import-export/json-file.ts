import { shownName } from '../../../../libs/evaluation-definition/index.js';
import { invalidInput } from '../../../platform/errors/domain-error.js';
import { fileContents, type FileContents } from './file-item.js';
import type { FileList, ListWriter } from './list-writer.js';
import { isTooDeep, MAX_DEPTH } from './json-depth.js';
import { duplicateName } from './json-duplicates.js';
import { jsonErrorPosition } from './json-position.js';

/** @throws DomainError BAD_REQUEST */
export function readJson(text: string): FileContents {
  if (isTooDeep(text)) throw invalidInput(`body must not be nested deeper than ${MAX_DEPTH} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidInput(`body must be valid JSON${place(text)}`);
  }
  const duplicate = duplicateName(text);
  if (duplicate) {
    const { name, line, column } = duplicate;
    throw invalidInput(
      `body must be valid JSON: duplicate name "${shownName(name)}" at line ${line}, column ${column}`,
    );
  }
  return fileContents(value);
}

/** Position of the error, as the end of a sentence; empty if it cannot be determined. */
function place(text: string): string {
  try {
    const { line, column } = jsonErrorPosition(text);
    const escape = /^(?:[^\\]|\\["\\/bfnrtu])*(\\[^"\\/bfnrtu])/.exec(text.split('\n')[line - 1] ?? '')?.[1];
    return `: error at line ${line}, column ${column}${escape === undefined ? '' : `, write \\${escape} for ${escape}`}`;
  } catch {
    return '';
  }
}

/** Writes an object of two lists. */
export const jsonWriter = (list: FileList): ListWriter => ({
  head: `${list === 'personalities' ? '{' : ','}\n  "${list}": [`,
  item: (item, isFirst) => `${isFirst ? '' : ','}\n    ${JSON.stringify(item, null, 2).replaceAll('\n', '\n    ')}`,
  tail: (isEmpty) => (isEmpty ? ']' : '\n  ]') + (list === 'evaluations' ? '\n}\n' : ''),
});
