import { CsvError, parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import {
  FILE_FIELD_NAMES,
  type FileFieldName,
  fileFields,
  shownName,
  type Violation,
} from '../../../../libs/evaluation-definition/index.js';
import { sentence, unknownFields } from '../../../../libs/json-input/index.js';
import { invalidInput } from '../../../platform/errors/domain-error.js';
import { type FileContents, type FileItem, mustFit } from './file-item.js';
import { csvLines } from './csv-lines.js';
import { isTooDeep, MAX_DEPTH } from './json-depth.js';
import { duplicateName } from './json-duplicates.js';
import type { ListWriter } from './list-writer.js';
import { MAX_ITEMS } from './media-types.js';
import { escapeFormula, unescapeFormula } from './formula.js';

const REQUIRED_COLUMNS: readonly FileFieldName[] = ['key', 'name', 'scenarioText'];
/** Columns whose empty cells are empty texts; elsewhere an empty cell is a missing field. */
const TEXTS: ReadonlySet<FileFieldName> = new Set([
  'key',
  'name',
  'scenarioText',
  'generalInstructions',
  'vendorCallPhoneNumber',
]);
const TAG_SEPARATOR = ';';

/** A record and its first line. */
interface Line {
  readonly cells: string[];
  readonly number: number;
}

/**
 * A table with a header row: a column per field, JSON in the cells of lists such as `checks`, tags separated by
 * semicolons. An empty cell is an empty string or, for other fields than texts, the field's default.
 * @throws DomainError BAD_REQUEST
 */
export function readCsv(text: string): FileContents {
  const [header, ...lines] = readLines(text);
  if (!header) throw invalidInput('line 1: a header row with the names of the fields is missing');
  const columns = header.cells.map(unescapeFormula);
  const violations = headerViolations(columns).map((text) => ({ path: [], text: `line 1: ${text}` }));
  // Each line would lack the missing columns too.
  const items = isComplete(columns) ? lines : [];
  mustFit(items.length);
  return {
    personalities: [],
    evaluations: items.map((line, index) => itemOf(line, index, columns)),
    violations,
    lineOf: ([index]) => (typeof index === 'number' ? lines[index]?.number : undefined),
  };
}

function readLines(text: string): Line[] {
  // The header row and one record more than allowed, to detect that there are too many.
  const most = MAX_ITEMS + 2;
  const { starts, tooWide } = csvLines(text, most);
  if (tooWide !== undefined) throw invalidInput(`line ${tooWide}: the line has too many cells`);
  try {
    const records = parse(text, {
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      to: most,
    });
    return records.map((cells, index) => ({ cells, number: starts[index] ?? 0 }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const [reason] = error.message.split(/ at line \d+|[\r\n]/);
    const record: unknown = error['records'];
    const line = starts[typeof record === 'number' ? record : 0] ?? 1;
    throw invalidInput(`line ${line}: body must be valid CSV: ${reason ?? ''}`);
  }
}

const isField = (name: string): name is FileFieldName => (FILE_FIELD_NAMES as readonly string[]).includes(name);

const isComplete = (columns: readonly string[]): boolean => missingColumns(columns).length === 0;

function missingColumns(columns: readonly string[]): string[] {
  const names = columns.some((name) => name === 'personality' || name === 'personalityId');
  return [...REQUIRED_COLUMNS.filter((name) => !columns.includes(name)), ...(names ? [] : ['personality'])];
}

function headerViolations(columns: readonly string[]): string[] {
  return [
    ...unknownFields(
      columns.filter((name) => !isField(name)),
      FILE_FIELD_NAMES,
    ).map(sentence),
    ...columns
      .filter((name, index) => columns.indexOf(name) !== index)
      .map((name) => `${shownName(name)} occurs twice`),
    ...missingColumns(columns).map((name) => `${name} is missing`),
  ];
}

function itemOf({ cells }: Line, index: number, columns: readonly string[]): FileItem {
  const value: Partial<Record<FileFieldName, unknown>> = {};
  const violations: Violation[] = [];
  if (cells.length !== columns.length) {
    violations.push({ path: [], text: `has ${cells.length} cells, but the header row has ${columns.length}` });
  }
  columns.forEach((name, at) => {
    if (!isField(name)) return;
    const cell = unescapeFormula(cells[at] ?? '');
    const read = readCell(name, cell);
    // An unreadable cell is left out of the value; that is not reported again.
    if (read.violation !== undefined) violations.push({ path: [name], text: read.violation });
    else if (read.value !== undefined) value[name] = read.value;
  });
  return { value, path: [index], violations };
}

function readCell(name: FileFieldName, cell: string): { value?: unknown; violation?: string } {
  const { type } = fileFields[name] as { readonly type: string };
  if (cell === '') return TEXTS.has(name) ? { value: '' } : {};
  if (name === 'tags') return { value: cell.split(TAG_SEPARATOR) };
  switch (type) {
    case 'string':
      return { value: cell };
    case 'boolean':
      // Spreadsheets write TRUE.
      return /^(true|false)$/i.test(cell)
        ? { value: cell.toLowerCase() === 'true' }
        : { violation: 'must be true or false' };
    case 'integer':
      return /^-?\d{1,15}$/.test(cell) ? { value: Number(cell) } : { violation: 'must be a whole number' };
    default:
      return readJsonCell(cell);
  }
}

function readJsonCell(cell: string): { value?: unknown; violation?: string } {
  if (isTooDeep(cell)) return { violation: `must not be nested deeper than ${MAX_DEPTH} levels` };
  try {
    const value = JSON.parse(cell) as unknown;
    const duplicate = duplicateName(cell);
    return duplicate ? { violation: `must be valid JSON: duplicate name "${shownName(duplicate.name)}"` } : { value };
  } catch {
    return { violation: 'must be valid JSON' };
  }
}

/** Writes evaluations with these columns. */
export const csvWriter = (columns: readonly FileFieldName[]): ListWriter => ({
  head: row(columns),
  item: (item) => row(columns.map((name) => cellOf(name, (item as Partial<Record<FileFieldName, unknown>>)[name]))),
  tail: () => '',
});

/** One line. A lone carriage return is quoted, because some readers treat it as a line end. */
function row(cells: readonly string[]): string {
  return stringify([cells.map(escapeFormula)], { quoted_match: /[\r\n]|^\s|\s$|^\uFEFF/, record_delimiter: '\n' });
}

function cellOf(name: FileFieldName, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (name === 'tags') return (value as readonly string[]).join(TAG_SEPARATOR);
  if (Array.isArray(value)) return value.length === 0 ? '' : JSON.stringify(value);
  return JSON.stringify(value);
}
