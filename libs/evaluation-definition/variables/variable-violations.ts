import { type Path, sentence, type Violation } from '../../json-input/index.js';
import { rowHash } from './case-key.js';
import type { VariablesRow } from '../definition/definition.js';
import { LIMITS } from '../definition/limits.js';
import { DATE_FORMS, datesFrom, isLikeDate, readDate } from './dates.js';
import {
  isData,
  placeholders,
  replacedLength,
  type Template,
  TEMPLATE_FIELDS,
  textsIn,
  withVariables,
} from './variables.js';

/** Limit of the number of different violations that are collected for all rows together. */
const MAX_VIOLATIONS = 1_000;

/** Some dates, the longest that English has: rules for texts hold with any. */
const SAMPLE = datesFrom({ at: '2026-09-30T12:00:00Z', timezone: 'UTC', language: 'en' });

/** An evaluation with variables, in a request or file. */
export type TemplateInput = Partial<Template> & { readonly variables: readonly VariablesRow[] };

/** Whether the value has a non-empty list of variables, valid or not. */
export const hasVariables = (value: object): value is TemplateInput =>
  'variables' in value && Array.isArray(value.variables) && value.variables.length > 0;

/** Fields, or entries of their lists, that use variables: `checks/2`. They can only be validated with their values. */
export function templateParts(value: object): ReadonlySet<string> {
  return new Set(usesIn(value).map(({ path }) => partOf(path)));
}

/** Field, or entry of its list, that contains the path. */
export const partOf = (path: Path): string => path.slice(0, typeof path[1] === 'number' ? 2 : 1).join('/');

const usesIn = (value: Partial<Template>) => TEMPLATE_FIELDS.flatMap((field) => placeholders(value[field], [field]));

/** Rows with different names, equal rows, and uses of unknown names. The rows must be valid by the schema. */
export function rowViolations(value: TemplateInput): Violation[] {
  const { variables } = value;
  const names = Object.keys(variables[0] ?? {}).sort();
  const known = new Set(names);
  const first = new Map<string, number>();
  const violations: Violation[] = variables.flatMap((row, index) => {
    const path = ['variables', index];
    const own = Object.keys(row).sort();
    if (own.join('\n') !== names.join('\n')) {
      return [{ path, text: `must have the same names as variables[0]: ${names.join(', ')}` }];
    }
    if (JSON.stringify(row).length > LIMITS.row)
      return [{ path, text: `must have at most ${LIMITS.row} characters as JSON` }];
    const hash = rowHash(row);
    const earlier = first.get(hash);
    if (earlier !== undefined) return [{ path, text: `duplicates variables[${earlier}]` }];
    first.set(hash, index);
    return [];
  });
  for (const { name, path } of usesIn(value)) {
    const day = readDate(name)?.day;
    // A variable of the same name comes first, and has no format.
    const isDate = day !== undefined && !known.has(day);
    if (!known.has(name) && !isDate) violations.push({ path, text: unknownName(name, `${names.join(', ')} and `) });
  }
  return [...violations, ...dateViolations({ variables })];
}

/** Names that are probably meant as dates, in an evaluation without variables or in the values of rows; others stay as they are. */
export function dateViolations(value: Partial<Template> & Pick<Partial<TemplateInput>, 'variables'>): Violation[] {
  return [...usesIn(value), ...placeholders(value.variables, ['variables'])].flatMap(({ name, path }) =>
    isLikeDate(name) && !readDate(name) ? [{ path, text: unknownName(name, '') }] : [],
  );
}

/** Texts that other tools would read from a file. */
export const fileViolations = (value: Partial<Template>): Violation[] =>
  TEMPLATE_FIELDS.flatMap((field) => textsIn(value[field], [field])).flatMap(({ text, path }) =>
    text.startsWith('file://') && !isData(path) && path[0] !== 'agentVariables'
      ? [{ path, text: 'names a file, which is not read: write its text here' }]
      : [],
  );

/** An evaluation without variables, with some dates. */
export const withSomeDates = <T extends Partial<Template>>(value: T): T =>
  usesIn(value).length === 0 ? value : withVariables(value, null, SAMPLE);

const unknownName = (name: string, names: string): string =>
  `uses the unknown variable "${name.slice(0, LIMITS.variableName)}"; known are ${names}${DATE_FORMS}; \\{{ stands for {{ itself`;

/**
 * Validates the evaluation with the values of each row. A violation that only some rows have names the first of them.
 * @param violationsOf validates an evaluation without variables
 */
export function rowByRow<T extends TemplateInput>(value: T, violationsOf: (replaced: T) => Violation[]): Violation[] {
  const { variables } = value;
  // Results of tools may be as large as all texts together: only those that a row changes count.
  const results: unknown = value.toolResults;
  const changedResults = Array.isArray(results) ? results.filter((entry) => placeholders(entry).length > 0) : results;
  const changed = { ...value, toolResults: changedResults };
  const lengthOf = replacedLength(TEMPLATE_FIELDS.map((field) => changed[field]));
  const length = variables.reduce((sum, row) => sum + lengthOf(row), 0);
  if (length > LIMITS.replaced) {
    const text = `must have at most ${LIMITS.replaced / 1e6} million characters once the values of all rows are inserted`;
    return [{ path: ['variables'], text }];
  }
  const found = new Map<string, { readonly violation: Violation; readonly first: number; rows: number }>();
  variables.forEach((row, index) => {
    if (found.size > MAX_VIOLATIONS) return;
    for (const violation of violationsOf(withVariables(value, row, SAMPLE))) {
      const known = found.get(sentence(violation));
      if (known) known.rows += 1;
      else found.set(sentence(violation), { violation, first: index, rows: 1 });
    }
  });
  return [...found.values()].map(({ violation, first, rows }) =>
    rows === variables.length
      ? violation
      : { ...violation, text: `${violation.text} with the values of variables[${first}]` },
  );
}
