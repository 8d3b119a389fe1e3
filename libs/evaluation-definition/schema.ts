import { checkDefinitions } from './check-schema.js';
import { DEFAULTS, LIMITS } from './limits.js';
import { type JsonSchema, ref, scriptDefinitions } from './script-schema.js';

/** The named parts, by name. */
export const definitions: Readonly<Record<string, JsonSchema>> = { ...scriptDefinitions, ...checkDefinitions };

const EXAMPLE_SCRIPT = [
  { say: "Hello, I'd like to book a table." },
  {
    answers: [
      { when: { says: { pattern: '(?i)how many|people' } }, say: 'Four of us.' },
      { when: { says: { pattern: '(?i)what (day|date|time)|when' } }, say: 'Friday at half past seven.' },
      { when: { says: { text: 'name' } }, say: 'Rossi.' },
    ],
    until: { says: { pattern: '(?i)booked|confirmed' } },
    otherwise: 'Sorry, could you say that again?',
  },
  { say: 'Thank you, goodbye.' },
  { end: 'The table is booked' },
];
const EXAMPLE_CHECKS = [
  { type: 'says', name: 'Confirms the booking', pattern: '(?i)booked|confirmed' },
  { type: 'calls_tool', tool: 'book_table', arguments: { people: 4, time: '19:30' } },
  { type: 'max_latency_ms', ms: 1500, weight: 0.5, required: false },
];
const EXAMPLE_CRITERIA = [
  { text: 'The agent repeats the date, the time and the number of people before it books.', weight: 2, required: true },
];

/** No line break, comma or semicolon, and no white space around it: such names separate well in CSV and on a shell. */
const PLAIN_NAME = '^[^\\s,;]([^,;\\r\\n]*[^\\s,;])?$';
const PLAIN_NAME_RULE = 'must have no comma, semicolon or line break, and no white space around it';

const text = (description: string, maxLength: number, example: string, more: JsonSchema = {}) => ({
  type: 'string' as const,
  description,
  maxLength,
  examples: [example],
  ...more,
});

/** Every field of an evaluation that people write, in the order in which it is shown. */
export const fields = {
  key: text(
    'Name for programs, unique among the evaluations of an agent: import matches by it',
    LIMITS.key,
    'table-for-four',
    {
      minLength: 1,
      pattern: PLAIN_NAME,
      patternErrorMessage: PLAIN_NAME_RULE,
    },
  ),
  name: text('Name for people', LIMITS.name, 'Books a table for four', { minLength: 1 }),
  scenarioText: text(
    'What the caller wants and knows',
    LIMITS.scenarioText,
    'You want a table for four on Friday at 19:30 under the name Rossi.',
    { minLength: 1 },
  ),
  generalInstructions: text('What holds beyond the scenario', LIMITS.scenarioText, 'Be polite.', { default: '' }),
  personalityId: text('Personality of the caller', LIMITS.identifier, 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251', {
    format: 'uuid',
  }),
  vendorCallPhoneNumber: text(
    "Number that the call uses; the agent's own, or empty, when left out",
    LIMITS.identifier,
    '+15550100',
  ),
  critical: {
    type: 'boolean',
    description: 'Whether a run is failed as soon as a call of this evaluation is, whatever its score',
    default: false,
    examples: [true],
  },
  tags: {
    type: 'array',
    description: 'Tags, by which a run can choose its evaluations',
    items: {
      type: 'string',
      minLength: 1,
      maxLength: LIMITS.tag,
      pattern: PLAIN_NAME,
      patternErrorMessage: PLAIN_NAME_RULE,
    },
    maxItems: LIMITS.tags,
    uniqueItems: true,
    default: [],
    examples: [['booking', 'smoke']],
  },
  script: {
    type: 'array',
    description:
      'What a scripted caller says and does, in order; after the last step it ends the call. Without a script a language model plays the caller',
    items: ref('ScriptStep'),
    maxItems: LIMITS.steps,
    default: [],
    examples: [EXAMPLE_SCRIPT],
  },
  checks: {
    type: 'array',
    description: 'Deterministic conditions on what happened on the call',
    items: ref('Check'),
    maxItems: LIMITS.checks,
    default: [],
    examples: [EXAMPLE_CHECKS],
  },
  criteria: {
    type: 'array',
    description: 'Sentences that a judge, a language model, decides after the call',
    items: ref('Criterion'),
    maxItems: LIMITS.criteria,
    default: [],
    examples: [EXAMPLE_CRITERIA],
  },
  maxTurns: {
    type: 'integer',
    description: 'After so many turns the call is ended. A turn is one exchange: the caller speaks, the agent answers',
    minimum: 1,
    maximum: LIMITS.maxTurns,
    default: DEFAULTS.maxTurns,
    examples: [20],
  },
  maxDurationSeconds: {
    type: 'integer',
    description: 'After so many seconds the call is ended',
    minimum: 1,
    maximum: LIMITS.maxDurationSeconds,
    default: DEFAULTS.maxDurationSeconds,
    examples: [300],
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

export type FieldName = keyof typeof fields;
export const FIELD_NAMES = Object.keys(fields) as FieldName[];

/** What of an evaluation is asked: all of an item of a file, all of a new one, or the fields that change. */
export type InputKind = 'file' | 'new' | 'change';

const NEEDED: Readonly<Record<InputKind, readonly FieldName[]>> = {
  file: ['key', 'name', 'scenarioText', 'personalityId'],
  new: ['name', 'scenarioText', 'personalityId'],
  change: [],
};

/** The schema of one evaluation as it is sent. */
export function inputSchema(kind: InputKind): JsonSchema & { readonly $defs: typeof definitions } {
  return {
    type: 'object',
    properties: kind === 'file' ? fields : { ...fields, key: { ...fields.key, type: ['string', 'null'] } },
    required: NEEDED[kind],
    additionalProperties: false,
    $defs: definitions,
  };
}

/** The schema of a file that import takes, for editors: of its own, without what only our validator knows. */
export function fileSchema(id: string, maxItems: number): JsonSchema {
  const { $defs, ...item } = inputSchema('file');
  return withoutKeyword('discriminator', {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: id,
    title: 'Evaluations of a voice agent',
    description:
      'A file for POST /agents/{agentId}/evaluations/import: all evaluations of it are created or replaced, matched by `key`.',
    type: 'array',
    maxItems,
    items: {
      title: 'Evaluation',
      description: 'A test scenario of an agent.',
      ...item,
      examples: [exampleOf(FIELD_NAMES)],
    },
    $defs,
  });
}

/** The first example of each field. */
export function exampleOf(names: readonly FieldName[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, (fields[name].examples as readonly unknown[])[0]]));
}

function withoutKeyword<T>(keyword: string, node: T): T {
  if (Array.isArray(node)) return node.map((entry: unknown) => withoutKeyword(keyword, entry)) as T;
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).filter(([name]) => name !== keyword);
  return Object.fromEntries(entries.map(([name, value]) => [name, withoutKeyword(keyword, value as unknown)])) as T;
}
