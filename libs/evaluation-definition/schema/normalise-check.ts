import { CHECK_DEFINITIONS, checkDefinitions } from '../checks/schema.js';
import type { Check, CheckInput, NestedCheck } from '../definition/definition.js';
import type { JsonSchema } from '../definition/json-schema.js';

type Fields = Readonly<Record<string, unknown>>;

/** Fills in the defaults of a check and orders its fields as in the schema. */
export function normaliseCheck(check: CheckInput): Check {
  const { step, answer, isOptional } = check;
  const ofLine = {
    ...(step !== undefined && { step }),
    ...(answer !== undefined && { answer }),
    ...(isOptional && { isOptional }),
  };
  return { ...normalised('Check', check, false), ...ofLine } as unknown as Check;
}

/** A check without weight: it only decides what applies. */
export const normaliseCondition = (check: object): NestedCheck =>
  normalised('Check', check as Fields, true) as unknown as NestedCheck;

/** The checks under a line of a script, whose type does not name them. */
export const normaliseExpectations = (expect: readonly object[]): Check[] =>
  expect.map((check) => normaliseCheck(check as CheckInput));

/** @param isNested whether it is inside another check, where weights have no meaning */
function normalised(part: string, value: Fields, isNested: boolean): Fields {
  const type = value['type'] ?? ('criterion' in value ? 'criterion' : undefined);
  const name = part === 'Check' ? CHECK_DEFINITIONS[type as string] : part;
  // A template whose type is a variable.
  if (name === undefined) return value;
  const { properties } = (checkDefinitions as Readonly<Record<string, JsonSchema>>)[name] as {
    properties: Readonly<Record<string, JsonSchema>>;
  };
  const result: Record<string, unknown> = {};
  for (const [field, schema] of Object.entries(properties)) {
    const given =
      (field === 'type' ? type : value[field]) ?? (hasDefault(field, value, isNested) ? schema['default'] : undefined);
    // What is false by default is only stored when it is true.
    if (given === undefined || (given === false && schema['default'] === false)) continue;
    result[field] = normalisedField(schema, given);
  }
  return result;
}

function hasDefault(field: string, value: Fields, isNested: boolean): boolean {
  if (field === 'weight' || field === 'required') return !isNested;
  if (field === 'occurrence') return !('value' in value);
  return field !== 'speaker' || !('tool' in value || 'value' in value || 'transfer' in value);
}

function normalisedField(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value) && schema['items']) {
    return value.map((item) => normalisedField(schema['items'] as JsonSchema, item));
  }
  const part = partOf(schema);
  return part === undefined ? value : normalised(part, value as Fields, true);
}

/** The name of the schema part that a field refers to. */
function partOf({ $ref, allOf }: JsonSchema): string | undefined {
  const reference = $ref ?? (allOf as readonly JsonSchema[] | undefined)?.[0]?.['$ref'];
  return typeof reference === 'string' ? reference.split('/').at(-1) : undefined;
}
