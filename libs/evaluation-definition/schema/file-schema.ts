import { examplePersonality } from './personality-schema.js';
import { criterionWithoutType, definitions, exampleFileItem, inputSchemas } from './schema.js';
import { type JsonSchema, ref, requiredEach } from '../definition/json-schema.js';

/** The named parts of the schema of a file. */
export const fileDefinitions = {
  FileEvaluation: { ...inputSchemas.file, examples: [exampleFileItem()] },
  FilePersonality: { ...inputSchemas.personality, examples: [examplePersonality] },
} as const satisfies Readonly<Record<string, JsonSchema>>;

/** The fields of a file that is an object. */
export const fileProperties = (maxItems: number) => ({
  $schema: {
    type: 'string',
    description: 'Address of this schema, for editors of JSON; import ignores it',
    maxLength: 2_048,
  },
  personalities: {
    type: 'array',
    description:
      'Personalities that the import creates or updates, matched by `name`. Those that are not in the file are kept',
    items: ref('FilePersonality'),
    maxItems,
    default: [],
  },
  evaluations: {
    type: 'array',
    description:
      'Evaluations that the import creates or updates, matched by `key`. Those that are not in the file are kept',
    items: ref('FileEvaluation'),
    maxItems,
  },
});

/**
 * The schema of an import file, for editors: self-contained and in draft-07, because the language servers of editors
 * support later drafts only in part (decision 78).
 */
export function fileSchema(id: string, maxItems: number): JsonSchema {
  return inDraft07({
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: id,
    title: 'Evaluations of a voice agent',
    description:
      'A file for POST /agents/{agentId}/evaluations/import: an object with `personalities` and `evaluations`, or a list of evaluations.',
    // Keywords for objects and lists side by side: editors complete them better than two alternatives.
    type: ['object', 'array'],
    properties: fileProperties(maxItems),
    required: ['evaluations'],
    additionalProperties: false,
    items: ref('FileEvaluation'),
    maxItems,
    examples: [{ personalities: [examplePersonality], evaluations: [exampleFileItem()] }],
    $defs: { ...definitions, CriterionCheck: criterionWithoutType, ...fileDefinitions },
  });
}

/** Keywords of draft 2020-12 by their names in draft-07. */
const DRAFT_07_NAMES: Readonly<Record<string, string>> = { $defs: 'definitions', dependentRequired: 'dependencies' };

/** The schema with the keywords of draft-07. Values of examples and defaults are not schemas and are kept. */
function inDraft07<T>(node: T): T {
  if (Array.isArray(node)) return node.map(inDraft07) as T;
  if (typeof node !== 'object' || node === null) return node;
  const schema = isDiscriminated(node) ? byDiscriminator(node) : node;
  // yaml-language-server 2.0 completes nothing around a field whose default is null.
  const given = Object.entries(schema).filter(([keyword, value]) => keyword !== 'default' || value !== null);
  const entries = given.map(([keyword, value]: [string, unknown]): [string, unknown] => {
    if (keyword === 'examples' || keyword === 'default') return [keyword, value];
    if (keyword === 'properties' || keyword === '$defs') return [DRAFT_07_NAMES[keyword] ?? keyword, eachIn(value)];
    if (keyword === '$ref') return [keyword, String(value).replace('#/$defs/', '#/definitions/')];
    return [DRAFT_07_NAMES[keyword] ?? keyword, inDraft07(value)];
  });
  return Object.fromEntries(entries) as T;
}

/** Schemas by name: the names are not keywords. */
const eachIn = (schemas: unknown): object =>
  Object.fromEntries(Object.entries(schemas as object).map(([name, schema]) => [name, inDraft07(schema as unknown)]));

/** Alternatives distinguished by a constant in one field, as OpenAPI describes them. */
interface Discriminated extends JsonSchema {
  readonly discriminator: { readonly propertyName: string };
  readonly oneOf: readonly { readonly $ref: string }[];
}

const isDiscriminated = (node: object): node is Discriminated => 'discriminator' in node && 'oneOf' in node;

/** Type of a check, and the field that alone implies it. */
const IMPLIED = 'criterion';

/**
 * The same alternatives as conditions: editors then report the faults of the alternative that is meant and list all
 * values of the field, while of `oneOf` they report the faults of the first alternative.
 */
function byDiscriminator({ discriminator: { propertyName }, oneOf, ...rest }: Discriminated): JsonSchema {
  const fields = oneOf.map(({ $ref }) => fieldIn($ref, propertyName));
  return {
    ...rest,
    properties: {
      [propertyName]: { description: fields[0]?.description, enum: fields.map(({ const: value }) => value) },
    },
    anyOf: requiredEach(propertyName, IMPLIED),
    allOf: fields.flatMap(({ const: value }, index) =>
      (value === IMPLIED ? [propertyName, IMPLIED] : [propertyName]).map((named) => ({
        if: { properties: { [propertyName]: { const: value } }, required: [named] },
        then: oneOf[index],
      })),
    ),
  };
}

interface ConstantField {
  readonly const: string;
  readonly description: string;
}

function fieldIn($ref: string, name: string): ConstantField {
  const { properties } = definitions[$ref.split('/').at(-1) ?? ''] as { properties: Record<string, ConstantField> };
  const field = properties[name];
  if (!field) throw new Error(`${$ref} has no field ${name}`);
  return field;
}
