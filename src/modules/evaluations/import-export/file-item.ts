import type { Path, Violation } from '../../../../libs/evaluation-definition/index.js';
import { unknownFields } from '../../../../libs/json-input/index.js';
import { invalidInput } from '../../../platform/errors/domain-error.js';
import { refuseForeign } from './foreign-file.js';
import type { FileList } from './list-writer.js';
import { MAX_ITEMS } from './media-types.js';

/** An evaluation or personality in a file. */
export interface FileItem {
  readonly value: unknown;
  /** Where it is in the file, for example `evaluations[3]`. */
  readonly path: Path;
  /** Violations that the format itself found, with paths inside the item. */
  readonly violations: readonly Violation[];
}

/** What a file contains. */
export interface FileContents {
  readonly personalities: readonly FileItem[];
  readonly evaluations: readonly FileItem[];
  /** Violations outside of the items, with paths from the root. */
  readonly violations: readonly Violation[];
  /** The line of a value or, if it is missing, of what should contain it, from 1; undefined if the format has none. */
  readonly lineOf: (path: Path) => number | undefined;
}

/** Names of a file's fields; `$schema` is for editors. */
const KNOWN: ReadonlySet<string> = new Set(['personalities', 'evaluations', '$schema']);
/** Maximum number of unknown fields that are reported: a file can have a million. */
const MAX_UNKNOWN = 1_000;

/**
 * The contents of a parsed file: a list of evaluations, or an object with `evaluations` and optionally `personalities`.
 * @throws DomainError BAD_REQUEST for another value, or for more items than one file may hold
 */
export function fileContents(value: unknown, lineOf: FileContents['lineOf'] = () => undefined): FileContents {
  if (typeof value === 'object' && value !== null) refuseForeign(value, lineOf);
  if (Array.isArray(value)) {
    return { personalities: [], evaluations: itemsOf(value, []), violations: [], lineOf };
  }
  if (typeof value !== 'object' || value === null) {
    throw invalidInput('body must be a list of evaluations, or an object with personalities and evaluations');
  }
  const unknown = Object.keys(value).filter((name) => !KNOWN.has(name));
  const violations = unknownFields(unknown.slice(0, MAX_UNKNOWN), [...KNOWN]);
  const itemsIn = (name: FileList): FileItem[] => {
    const list = (value as Partial<Record<FileList, unknown>>)[name];
    if (Array.isArray(list)) return itemsOf(list, [name]);
    if (list !== undefined) violations.push({ path: [name], text: 'must be a list' });
    else if (name === 'evaluations') violations.push({ path: [name], text: 'is required' });
    return [];
  };
  return { personalities: itemsIn('personalities'), evaluations: itemsIn('evaluations'), violations, lineOf };
}

function itemsOf(list: readonly unknown[], path: readonly FileList[]): FileItem[] {
  // Checked first: a small file can contain millions of items.
  mustFit(list.length, path[0]);
  return list.map((value, index) => ({ value, path: [...path, index], violations: [] }));
}

/** @throws DomainError BAD_REQUEST for more items than one file may hold */
export function mustFit(count: number, kind: FileList = 'evaluations'): void {
  if (count > MAX_ITEMS) throw invalidInput(`body must hold at most ${MAX_ITEMS} ${kind}`);
}
