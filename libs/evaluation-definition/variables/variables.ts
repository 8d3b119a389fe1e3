import { RE2JS } from 're2js';
import type { Path } from '../../json-input/index.js';
import type { AuthoredEvaluation, VariablesRow, VariableValue } from '../definition/definition.js';
import { type DateFormat, type DateValues, isLikeDate, MAX_DATE_NAME } from './dates.js';

/** The fields in which `{{name}}` stands for the value of a variable. */
export const TEMPLATE_FIELDS = [
  ...(['scenarioText', 'generalInstructions', 'script', 'history', 'checks', 'criteria'] as const),
  ...(['toolResults', 'agentVariables'] as const),
] as const;
export type Template = Pick<AuthoredEvaluation, (typeof TEMPLATE_FIELDS)[number]>;

/**
 * `\{{` for literal braces, or `{{name}}`; anything up to the next `}}` counts as a name, so that typing errors are found. The rest
 * after braces that are not closed is one token, so that no character is read twice.
 */
const TOKEN = /\\\{\{|\{\{(.*?)\}\}|\{\{.*/gs;
const ONLY_NAME = /^\{\{((?:(?!\}\}).)*)\}\}$/s;

/** Fields of checks and results of tools that hold data: `pattern` is an ordinary name inside them. */
const DATA_FIELDS: ReadonlySet<string> = new Set([
  ...['arguments', 'const', 'enum', 'default', 'examples'],
  ...['same', 'result', 'results'],
]);

/** Fields whose texts are data: a date in them is `2026-12-04`, elsewhere as it is spoken. */
const ISO_FIELDS: ReadonlySet<string> = new Set([...DATA_FIELDS, 'argumentsSchema', 'value', 'agentVariables']);

/** A use of a variable. */
export interface Placeholder {
  readonly name: string;
  /** Path of the text that contains it. */
  readonly path: Path;
}

/** The variables that the texts inside a value use. */
export const placeholders = (value: unknown, path: Path = []): Placeholder[] =>
  textsIn(value, path).flatMap(({ text, path: at }) =>
    [...text.matchAll(TOKEN)].flatMap(([, name]) => (name === undefined ? [] : [{ name, path: at }])),
  );

/** The texts inside a value. */
export const textsIn = (value: unknown, path: Path = []): { readonly text: string; readonly path: Path }[] =>
  typeof value === 'string'
    ? [{ text: value, path }]
    : entriesOf(value).flatMap(([step, entry]) => textsIn(entry, [...path, step]));

/** Whether the path leads into data of the author, such as arguments of a tool. */
export const isData = (path: Path): boolean => path.some((step) => DATA_FIELDS.has(String(step)));

/**
 * Number of characters of a value as JSON after the replacement, found without replacing anything.
 * @returns the length for a row
 */
export function replacedLength(value: unknown): (row: VariablesRow) => number {
  const uses = new Map<string, number>();
  let own = JSON.stringify(value).length;
  const count = (node: unknown): void => {
    if (typeof node !== 'string') return entriesOf(node).forEach(([, entry]) => count(entry));
    for (const [token, name] of node.matchAll(TOKEN)) {
      if (name === undefined) continue;
      own -= token.length;
      uses.set(name, (uses.get(name) ?? 0) + 1);
    }
  };
  count(value);
  return (row) => [...uses].reduce((sum, [name, times]) => sum + String(row[name] ?? '').length * times, own);
}

/**
 * Replaces `{{name}}` in every text inside the value by the row's value, once: inserted values are not searched again. A
 * text that is nothing but `{{name}}` becomes the value itself, with its type. In regular expressions (`pattern`) values
 * match literally. Unknown names stay as they are. Dates are replaced likewise, also in values of the row.
 */
export function replaceVariables<T>(value: T, row: VariablesRow | null, dates: DateValues = NO_DATES): T {
  return replaced(value, { row, dates }, { isPattern: false, isData: false, usual: 'spoken' }) as T;
}

const NO_DATES: DateValues = () => undefined;

interface Values {
  /** Null without variables: then only dates are replaced. */
  readonly row: VariablesRow | null;
  readonly dates: DateValues;
}

interface Place {
  readonly isPattern: boolean;
  readonly isData: boolean;
  readonly usual: DateFormat;
}

function replaced(value: unknown, values: Values, place: Place): unknown {
  if (typeof value === 'string')
    return place.isPattern ? inPattern(value, values, place) : inText(value, values, place);
  if (Array.isArray(value)) return value.map((entry: unknown) => replaced(entry, values, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]: [string, unknown]) => {
      const isData = place.isData || DATA_FIELDS.has(name);
      const usual = ISO_FIELDS.has(name) ? 'iso' : place.usual;
      // A check keeps its name from day to day.
      const given = name === 'name' && usual === 'spoken' ? { ...values, dates: NO_DATES } : values;
      return [name, replaced(entry, given, { isData, isPattern: !isData && name === 'pattern', usual })];
    }),
  );
}

function inText(text: string, values: Values, place: Place): VariableValue {
  const name = ONLY_NAME.exec(text)?.[1];
  if (name !== undefined && values.row && Object.hasOwn(values.row, name)) return ofRow(name, values, place);
  return insert(text, values, place, String);
}

const inPattern = (text: string, values: Values, place: Place): string =>
  insert(text, values, place, (value) => RE2JS.quote(String(value)));

/** A value of the row; dates in it have the format of the place where it is inserted. */
function ofRow(name: string, { row, dates }: Values, place: Place): VariableValue {
  const value = row![name]!;
  return typeof value === 'string' ? insert(value, { row: null, dates }, place, String) : value;
}

function insert(text: string, values: Values, place: Place, format: (value: VariableValue) => string): string {
  return text.replace(TOKEN, (token: string, name: string | undefined, at: number) => {
    if (name === undefined && token.startsWith('{{')) return values.row ? token.replaceAll('\\{{', '{{') : token;
    if (name === undefined) return values.row || isDateAfter(text, at + token.length) ? '{{' : token;
    if (values.row && Object.hasOwn(values.row, name)) return format(ofRow(name, values, place));
    const date = values.dates(name, place.usual);
    return date === undefined ? token : format(date);
  });
}

/** Whether the braces that a backslash makes literal would be a date otherwise. */
function isDateAfter(text: string, at: number): boolean {
  const name = /^(.*?)\}\}/s.exec(text.slice(at, at + MAX_DATE_NAME))?.[1];
  return name !== undefined && isLikeDate(name);
}

/**
 * The evaluation's texts with the values of the row and with dates; without variables only dates are replaced.
 * @param dates absent where only the kinds of checks and steps matter
 */
export function withVariables<T extends Partial<Template>>(
  evaluation: T,
  row: VariablesRow | null,
  dates?: DateValues,
): T {
  if (!row && !dates) return evaluation;
  const fields = TEMPLATE_FIELDS.filter((field) => evaluation[field] !== undefined);
  return {
    ...evaluation,
    ...replaceVariables(Object.fromEntries(fields.map((field) => [field, evaluation[field]])), row, dates),
  };
}

const entriesOf = (value: unknown): [string | number, unknown][] => {
  if (Array.isArray(value)) return value.map((entry: unknown, index) => [index, entry]);
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
};
