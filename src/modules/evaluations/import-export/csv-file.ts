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
import { csvLines, type Separator, SEPARATORS } from './csv-lines.js';
import { isTooDeep, MAX_DEPTH } from './json-depth.js';
import { duplicateName } from './json-duplicates.js';
import type { ListWriter } from './list-writer.js';
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

/** The words that spreadsheets write for true and false, in the language of their user. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'wahr', 'vrai', 'verdadero', 'vero', 'waar', 'verdadeiro', 'prawda'].map((word) => [word, true] as const),
  ...['false', 'falsch', 'faux', 'falso', 'onwaar', 'fałsz'].map((word) => [word, false] as const),
]);

/**
 * A table with a header row: a column per field, JSON in the cells of lists such as `checks`, tags separated by
 * semicolons. The header tells what separates cells. Rows and columns without contents are passed over. An empty cell is an
 * empty string or, for other fields than texts, the field's default.
 * @throws DomainError BAD_REQUEST
 */
export function readCsv(text: string): FileContents {
  const [header, ...lines] = readLines(text);
  if (!header) throw invalidInput('line 1: a header row with the names of the fields is missing');
  const columns = header.cells.map((cell) => unescapeFormula(cell.trim()));
  if (!columns.some(isLikeField)) throw invalidInput(`line ${header.number}: ${NO_FIELDS}`);
  const violations = headerViolations(columns).map((text) => ({ path: [], text: `line ${header.number}: ${text}` }));
  // Each line would lack the missing columns too.
  const items = isComplete(columns) ? lines : [];
  return {
    personalities: [],
    evaluations: items.map((line, index) => itemOf(line, index, columns)),
    violations,
    lineOf: ([index]) => (typeof index === 'number' ? lines[index]?.number : undefined),
  };
}

const NO_FIELDS =
  'none of the columns is a field of an evaluation: the header row names key, name, scenarioText, personality and others, separated by commas, semicolons, tabs or vertical bars';

/** The first line for Excel alone: `sep=;`, which other programs write in quotes. */
const SEPARATOR_LINE = /^("?)sep=([,;\t|])\1[,;\t|]*(?:\r\n|\n|\r)/i;

/** All records with contents. */
function readLines(file: string): Line[] {
  const [declaration = '', , declared] = SEPARATOR_LINE.exec(file) ?? [];
  const text = file.slice(declaration.length);
  const separator = (declared as Separator | undefined) ?? separatorOf(text);
  const above = declaration === '' ? 0 : 1;
  const { starts, tooWide } = csvLines(text, separator);
  if (tooWide !== undefined) throw invalidInput(`line ${tooWide + above}: the line has too many cells`);
  const lines: Line[] = [];
  let count = 0;
  try {
    parse(text, {
      delimiter: separator,
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      on_record: (cells: string[]) => {
        const number = (starts[count++] ?? 0) + above;
        // Spreadsheets export rows that were used once.
        if (cells.every((cell) => cell.trim() === '')) return null;
        mustFit(lines.length);
        lines.push({ cells, number });
        return null;
      },
    });
    return lines;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const [reason] = error.message.split(/ at line \d+|[\r\n]/);
    const line = (starts[count] ?? 1) + above;
    throw invalidInput(`line ${line}: body must be valid CSV: ${reason ?? ''}`);
  }
}

const MAX_HEADER = 10_000;

/** What separates most names of fields in the header; cells can hold any separator. */
function separatorOf(text: string): Separator {
  const header =
    text
      .slice(0, MAX_HEADER)
      .split(/[\r\n]+/)
      .find((line) => /\p{L}/u.test(line)) ?? '';
  const fieldsBy = (separator: Separator): number =>
    header.split(separator).filter((cell) => isLikeField(cell.replace(/[" ]/g, ''))).length;
  return SEPARATORS.reduce((best, next) => (fieldsBy(next) > fieldsBy(best) ? next : best));
}

const LOWER_CASE: ReadonlySet<string> = new Set(FILE_FIELD_NAMES.map((name) => name.toLowerCase()));
/** Whether it is a field, perhaps in other letter case. */
const isLikeField = (name: string): boolean => LOWER_CASE.has(name.toLowerCase());
const isField = (name: string): name is FileFieldName => (FILE_FIELD_NAMES as readonly string[]).includes(name);

const isComplete = (columns: readonly string[]): boolean => missingColumns(columns).length === 0;

function missingColumns(columns: readonly string[]): string[] {
  const names = columns.some((name) => name === 'personality' || name === 'personalityId');
  return [...REQUIRED_COLUMNS.filter((name) => !columns.includes(name)), ...(names ? [] : ['personality'])];
}

function headerViolations(columns: readonly string[]): string[] {
  return [
    ...unknownFields(
      columns.filter((name) => name !== '' && !isField(name)),
      FILE_FIELD_NAMES,
    ).map(sentence),
    ...columns
      .filter((name, index) => name !== '' && columns.indexOf(name) !== index)
      .map((name) => `${shownName(name)} occurs twice`),
    ...missingColumns(columns).map((name) => `${name} is missing`),
  ];
}

function itemOf({ cells }: Line, index: number, columns: readonly string[]): FileItem {
  const value: Partial<Record<FileFieldName, unknown>> = {};
  const violations: Violation[] = [];
  const spare = cells.findIndex((cell, at) => (columns[at] ?? '') === '' && cell.trim() !== '');
  if (spare !== -1 && spare < columns.length) {
    violations.push({ path: [], text: `has a value in column ${spare + 1}, which has no name in the header row` });
  } else if (spare !== -1 || cells.length < columns.length) {
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
      return BOOLEANS.has(cell.toLowerCase())
        ? { value: BOOLEANS.get(cell.toLowerCase()) }
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
    // Spreadsheets replace quotes while one types.
    const hint = /[“”„«»]/.test(cell) ? ': write " instead of typographic quotes' : '';
    return { violation: `must be valid JSON${hint}` };
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
