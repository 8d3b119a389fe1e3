import { RE2JS } from 're2js';
import type { Path } from '../../json-input/index.js';
import type { AuthoredEvaluation, VariablesRow, VariableValue } from '../definition/definition.js';

/** The fields in which `{{name}}` stands for the value of a variable. */
export const TEMPLATE_FIELDS = [
  ...([
    'scenarioText',
    'generalInstructions',
    'script',
    'checks',
    'criteria',
    'toolResults',
    'agentVariables',
  ] as const),
] as const;
export type Template = Pick<AuthoredEvaluation, (typeof TEMPLATE_FIELDS)[number]>;

/** `\{{` for literal braces, or `{{name}}`; anything up to the next `}}` counts as a name, so that typing errors are found. */
const TOKEN = /\\\{\{|\{\{(.*?)\}\}/gs;
const ONLY_NAME = /^\{\{((?:(?!\}\}).)*)\}\}$/s;

/** Fields of checks and results of tools that hold data: `pattern` is an ordinary name inside them. */
const DATA_FIELDS: ReadonlySet<string> = new Set([
  ...['arguments', 'const', 'enum', 'default', 'examples'],
  ...['same', 'result', 'results'],
]);

/** A use of a variable. */
export interface Placeholder {
  readonly name: string;
  /** Path of the text that contains it. */
  readonly path: Path;
}

/** The variables that the texts inside a value use. */
export function placeholders(value: unknown, path: Path = []): Placeholder[] {
  if (typeof value === 'string') {
    return [...value.matchAll(TOKEN)].flatMap(([, name]) => (name === undefined ? [] : [{ name, path }]));
  }
  return entriesOf(value).flatMap(([step, entry]) => placeholders(entry, [...path, step]));
}

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
 * match literally. Unknown names stay as they are.
 */
export function replaceVariables<T>(value: T, row: VariablesRow): T {
  return replaced(value, row, { isPattern: false, isData: false }) as T;
}

interface Place {
  readonly isPattern: boolean;
  readonly isData: boolean;
}

function replaced(value: unknown, row: VariablesRow, place: Place): unknown {
  if (typeof value === 'string') return place.isPattern ? inPattern(value, row) : inText(value, row);
  if (Array.isArray(value)) return value.map((entry: unknown) => replaced(entry, row, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]: [string, unknown]) => {
      const isData = place.isData || DATA_FIELDS.has(name);
      return [name, replaced(entry, row, { isData, isPattern: !isData && name === 'pattern' })];
    }),
  );
}

function inText(text: string, row: VariablesRow): VariableValue {
  const name = ONLY_NAME.exec(text)?.[1];
  if (name !== undefined && Object.hasOwn(row, name)) return row[name]!;
  return insert(text, row, String);
}

const inPattern = (text: string, row: VariablesRow): string => insert(text, row, (value) => RE2JS.quote(String(value)));

const insert = (text: string, row: VariablesRow, format: (value: VariableValue) => string): string =>
  text.replace(TOKEN, (token: string, name: string | undefined) => {
    if (name === undefined) return '{{';
    return Object.hasOwn(row, name) ? format(row[name]!) : token;
  });

/** The evaluation's texts with the values of the row; unchanged without variables. */
export function withVariables<T extends Partial<Template>>(evaluation: T, row: VariablesRow | null): T {
  if (row === null) return evaluation;
  const fields = TEMPLATE_FIELDS.filter((field) => evaluation[field] !== undefined);
  return {
    ...evaluation,
    ...Object.fromEntries(fields.map((field) => [field, replaceVariables(evaluation[field], row)])),
  };
}

const entriesOf = (value: unknown): [string | number, unknown][] => {
  if (Array.isArray(value)) return value.map((entry: unknown, index) => [index, entry]);
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
};
