import { compilePattern, type ToolResult } from '../../evaluation-definition/index.js';
import { isObject } from '../../json-input/index.js';
import { TooManySteps, validateJson } from '../../json-schema/index.js';
import { containsJson } from '../matching/contains-json.js';
import type { ToolCallEntry } from '../timeline/timeline.js';
import { compareValues, type Sameness, type ValueKind } from '../values/same-value.js';

type Arguments = ToolCallEntry['arguments'];
type Conditions = Pick<ToolResult, 'arguments' | 'argumentsSchema' | 'same'>;

/** Whether a result is meant for a call with these arguments: `same`, `different`, or `unknown`. */
export function fitOf({ arguments: wanted = {}, argumentsSchema, same = {} }: Conditions, args: Arguments): Sameness {
  if (!containsJson(wanted, args ?? {})) return 'different';
  const bySchema = argumentsSchema ? fitOfSchema(argumentsSchema, args) : 'same';
  return worst([bySchema, compareEach(same, args ?? {})]);
}

/** Whether the values of a call are those of a result in other forms, or may be, although `fitOf` says that it does not fit. */
export function mayBeMeant({ arguments: wanted = {}, ...others }: Conditions, args: Arguments): boolean {
  const { argumentsSchema } = others;
  const written = argumentsSchema && args ? asWritten(argumentsSchema, args) : args;
  return compareEach(wanted, args ?? {}) !== 'different' && fitOf(others, written) !== 'different';
}

function fitOfSchema(schema: NonNullable<Conditions['argumentsSchema']>, args: Arguments): Sameness {
  try {
    return args !== null && validateJson(schema, args, compilePattern) === undefined ? 'same' : 'different';
  } catch (error) {
    if (error instanceof TooManySteps) return 'unknown';
    throw error;
  }
}

/** Further fields are ignored, as `containsJson` does. */
function compareEach(wanted: unknown, given: unknown): Sameness {
  // Who lists values, and what to answer to others, means other words by other values.
  if (!isObject(wanted) || !isObject(given)) return compareInAnyOrder(wanted, given, 'name');
  return worst(
    Object.entries(wanted).map(([name, value]) => {
      const held = Object.hasOwn(given, name) ? given[name] : null;
      // Models leave out what is optional, or write that it is nothing.
      if (isNothing(value) && isNothing(held)) return 'same';
      return held === null ? 'different' : compareEach(value, held);
    }),
  );
}

const isNothing = (value: unknown): boolean =>
  value === null || (typeof value === 'string' && /^(none|null)?$/i.test(value));

/** Items of lists that are compared in another order. */
const MAX_REORDERED = 20;

/** Compares values. The order of a list may not matter: whether it does is unknown. */
export function compareInAnyOrder(a: unknown, b: unknown, kind?: ValueKind): Sameness {
  const found = compareValues(a, b, kind);
  if (found !== 'different' || !Array.isArray(a) || !Array.isArray(b)) return found;
  const isIn = (one: unknown) => b.some((other) => compareValues(one, other, kind) !== 'different');
  return a.length === b.length && a.length <= MAX_REORDERED && a.every(isIn) ? 'unknown' : 'different';
}

export const worst = (found: readonly Sameness[]): Sameness =>
  found.find((one) => one === 'different') ?? found.find((one) => one === 'unknown') ?? 'same';

/** The arguments with each value as a schema writes it, where that lists its values. */
function asWritten({ properties }: Readonly<Record<string, unknown>>, args: NonNullable<Arguments>): Arguments {
  const listed = (name: string): readonly unknown[] => {
    const of = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isObject(of)) return [];
    return [...('const' in of ? [of['const']] : []), ...(Array.isArray(of['enum']) ? (of['enum'] as unknown[]) : [])];
  };
  const entries = Object.entries(args).map(([name, value]) => {
    const found = listed(name).find((one) => compareValues(one, value, 'name') !== 'different');
    return [name, found === undefined ? value : found];
  });
  return Object.fromEntries(entries) as Arguments;
}
