import { CsvError, parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { FIELD_NAMES, type FieldName, fields, shownName } from '../../../../libs/evaluation-definition/index.js';
import { DomainError, invalidInput } from '../../../platform/errors/domain-error.js';
import { type FileItem, mustFit } from './file-item.js';
import { csvLines } from './csv-lines.js';
import { isTooDeep, MAX_DEPTH } from './json-depth.js';
import { MAX_ITEMS } from './media-types.js';
import { escapeFormula, unescapeFormula } from './formula.js';

const REQUIRED_COLUMNS: readonly FieldName[] = ['key', 'name', 'scenarioText', 'personalityId'];
const TAG_SEPARATOR = ';';

/** A record and its first line. */
interface Line {
  readonly cells: string[];
  readonly number: number;
}

/**
 * A table with a header row: a column per field, JSON in the cells of `script`, `checks` and `criteria`, tags separated
 * by semicolons. An empty cell is an empty string or, for other types, the field's default.
 * @throws DomainError BAD_REQUEST
 */
export function readCsv(text: string): FileItem[] {
  const [header, ...lines] = readLines(text);
  if (!header) throw invalidInput('line 1: a header row with the names of the fields is missing');
  const columns = header.cells.map(unescapeFormula);
  const violations = headerViolations(columns);
  if (violations.length > 0) throw new DomainError('BAD_REQUEST', undefined, violations);
  mustFit(lines.length);
  return lines.map((line) => itemOf(line, columns as FieldName[]));
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

function headerViolations(columns: readonly string[]): string[] {
  const known: readonly string[] = FIELD_NAMES;
  return [
    ...columns.filter((name) => !known.includes(name)).map((name) => `line 1: ${shownName(name)} is not a known field`),
    ...columns
      .filter((name, index) => columns.indexOf(name) !== index)
      .map((name) => `line 1: ${shownName(name)} occurs twice`),
    ...REQUIRED_COLUMNS.filter((name) => !columns.includes(name)).map((name) => `line 1: ${name} is missing`),
  ];
}

function itemOf({ cells, number }: Line, columns: readonly FieldName[]): FileItem {
  const value: Partial<Record<FieldName, unknown>> = {};
  const violations: string[] = [];
  if (cells.length !== columns.length) {
    violations.push(`the line has ${cells.length} cells, the header row ${columns.length}`);
  }
  columns.forEach((name, index) => {
    const cell = unescapeFormula(cells[index] ?? '');
    const read = readCell(name, cell);
    if (read.violation !== undefined) violations.push(`${name} ${read.violation}`);
    else if (read.value !== undefined) value[name] = read.value;
  });
  return { value, place: `line ${number}`, separator: ': ', violations };
}

function readCell(name: FieldName, cell: string): { value?: unknown; violation?: string } {
  const { type } = fields[name];
  if (type === 'string') return { value: cell };
  if (cell === '') return {};
  if (name === 'tags') return { value: cell.split(TAG_SEPARATOR) };
  switch (type) {
    case 'boolean':
      // Spreadsheets write TRUE.
      return /^(true|false)$/i.test(cell)
        ? { value: cell.toLowerCase() === 'true' }
        : { violation: 'must be true or false' };
    case 'integer':
      return /^-?\d{1,15}$/.test(cell) ? { value: Number(cell) } : { violation: 'must be a whole number' };
    case 'array':
      return readJsonCell(cell);
  }
}

function readJsonCell(cell: string): { value?: unknown; violation?: string } {
  if (isTooDeep(cell)) return { violation: `must not be nested deeper than ${MAX_DEPTH} levels` };
  try {
    return { value: JSON.parse(cell) as unknown };
  } catch {
    return { violation: 'must be valid JSON' };
  }
}

export const writeCsv = {
  head: row(FIELD_NAMES),
  item: (item: Readonly<Record<FieldName, unknown>>): string =>
    row(FIELD_NAMES.map((name) => cellOf(name, item[name]))),
  tail: (): string => '',
};

/** One line. A lone carriage return is quoted, because some readers treat it as a line end. */
function row(cells: readonly string[]): string {
  return stringify([cells.map(escapeFormula)], { quoted_match: /[\r\n]|^\s|\s$|^\uFEFF/, record_delimiter: '\n' });
}

function cellOf(name: FieldName, value: unknown): string {
  if (typeof value === 'string') return value;
  if (name === 'tags') return (value as readonly string[]).join(TAG_SEPARATOR);
  if (Array.isArray(value)) return value.length === 0 ? '' : JSON.stringify(value);
  return String(value);
}
