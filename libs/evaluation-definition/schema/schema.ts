import { checkDefinitions } from '../checks/schema.js';
import { SCOPES } from '../definition/definition.js';
import { DEFAULTS, LIMITS } from '../definition/limits.js';
import { historyLineSchema } from './history-schema.js';
import { LANGUAGE_RULE } from '../definition/language.js';
import { TIMEZONE_RULE } from '../definition/timezone.js';
import { examplePersonality, personalitySchema } from './personality-schema.js';
import { requiredEach, type JsonSchema, ref } from '../definition/json-schema.js';
import { scriptDefinitions } from './script-schema.js';
import { toolResultSchema } from './tool-result-schema.js';
import { lineConditionsSchema } from './voice-schema.js';

const { CriterionCheck } = checkDefinitions as Readonly<Record<string, JsonSchema>>;
/** In a request or file, a check that has only `criterion` needs no type. */
export const criterionWithoutType: JsonSchema = { ...CriterionCheck, required: ['criterion'] };

/** The named parts, by name. */
export const definitions: Readonly<Record<string, JsonSchema>> = {
  ...scriptDefinitions,
  ...checkDefinitions,
  LineConditions: lineConditionsSchema,
  HistoryLine: historyLineSchema,
  ToolResult: toolResultSchema,
};

const EXAMPLE_SCRIPT = [
  { say: "Hello, I'd like to book a table." },
  {
    answers: [
      { when: { says: { pattern: '(?i)how many (people|guests)' } }, say: 'Four of us.' },
      { when: { says: { pattern: '(?i)(which|what) (day|date)' } }, say: 'On Friday.' },
      { when: { says: { pattern: '(?i)(which|what) time' } }, say: 'At half past seven in the evening.' },
      { when: { says: { pattern: '(?i)(which|your|what) name' } }, say: 'Rossi.' },
      { when: { says: { pattern: '(?i)your phone number' } }, say: 'My number is 555 0142.' },
      { when: { says: { pattern: '(?i)shall i book|is that (right|correct)' } }, say: 'Yes, please.' },
    ],
    until: { says: { pattern: '(?i)(table|booking) is (booked|confirmed)' } },
    otherwise: 'Sorry, could you say that again?',
  },
  { say: 'Thank you, goodbye.' },
  { end: 'The table is booked' },
];
const EXAMPLE_CHECKS = [
  { type: 'says', name: 'Confirms the booking', pattern: '(?i)is (booked|confirmed)' },
  { type: 'calls_tool', tool: 'book_table', arguments: { people: 4, time: '19:30' } },
  { type: 'max_latency_ms', ms: 1500, weight: 0.5, required: false },
];
const EXAMPLE_CRITERIA = [
  {
    text: 'The agent repeats the date, the time and the number of people before it books.',
    weight: 2,
    required: false,
  },
];

/** Without line breaks, commas, semicolons and surrounding white space, so that lists of names work in CSV and in a shell. */
const PLAIN_NAME = '^[^\\s,;]([^,;\\r\\n]*[^\\s,;])?$';
const PLAIN_NAME_RULE = 'must not contain a comma, semicolon or line break, or begin or end with white space';

/** Names of variables. */
const VARIABLE_NAME = '^[\\p{L}_][\\p{L}\\p{N}_.-]*$';

const text = (description: string, maxLength: number, example: string, more: JsonSchema = {}) => ({
  type: 'string' as const,
  description,
  maxLength,
  examples: [example],
  ...more,
});

/** All editable fields of an evaluation, in display order. */
export const fields = {
  key: text(
    'Identifier, unique among the evaluations of an agent; import matches evaluations by it',
    LIMITS.key,
    'table-for-four',
    {
      minLength: 1,
      pattern: PLAIN_NAME,
      patternErrorMessage: PLAIN_NAME_RULE,
    },
  ),
  name: text('Display name', LIMITS.name, 'Books a table for four', { minLength: 1 }),
  scenarioText: text(
    'What the caller wants and knows',
    LIMITS.scenarioText,
    'You want a table for four on Friday at 19:30 under the name Rossi.',
    { minLength: 1 },
  ),
  generalInstructions: text('Further instructions for the caller', LIMITS.scenarioText, 'Be polite.', { default: '' }),
  personalityId: text('Personality of the caller', LIMITS.identifier, 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251', {
    format: 'uuid',
  }),
  vendorCallPhoneNumber: text(
    "Phone number that the call uses; defaults to the agent's number, or to an empty text",
    LIMITS.identifier,
    '+15550100',
  ),
  critical: {
    type: 'boolean',
    description: 'Whether a failed call of this evaluation fails the whole run, regardless of its score',
    default: false,
    examples: [true],
  },
  tags: {
    type: 'array',
    description: 'Tags, used to select evaluations for a run',
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
      'Steps of a scripted caller, in order; after the last step the caller ends the call. Without a script, a language model plays the caller',
    items: ref('ScriptStep'),
    maxItems: LIMITS.steps,
    default: [],
    examples: [EXAMPLE_SCRIPT],
  },
  checks: {
    type: 'array',
    description: 'Deterministic conditions on what happened during the call',
    items: ref('Check'),
    maxItems: LIMITS.checks,
    default: [],
    examples: [EXAMPLE_CHECKS],
  },
  criteria: {
    type: 'array',
    description:
      'Statements that a judge, a language model, decides after the call; a plain text is one that is required and has the weight 1',
    items: {
      if: { type: 'string' },
      then: { type: 'string', minLength: 1, maxLength: LIMITS.criterion },
      else: ref('Criterion'),
    },
    maxItems: LIMITS.criteria,
    default: [],
    examples: [EXAMPLE_CRITERIA],
  },
  maxTurns: {
    type: 'integer',
    description:
      'Maximum number of turns, after which the call is ended. A turn is one exchange: the caller speaks, the agent responds',
    minimum: 1,
    maximum: LIMITS.maxTurns,
    default: DEFAULTS.maxTurns,
    examples: [20],
  },
  maxDurationSeconds: {
    type: 'integer',
    description:
      'Maximum duration in seconds, after which the call is ended; on a voice call with the time in which the caller thinks',
    minimum: 1,
    maximum: LIMITS.maxDurationSeconds,
    default: DEFAULTS.maxDurationSeconds,
    examples: [300],
  },
  language: {
    type: 'string',
    description:
      "Language of the call as a BCP 47 tag: the caller speaks it, and the prompt of the judge names it. Defaults to the agent's `language` or, if that is not a BCP 47 tag, to `en-US`",
    maxLength: LIMITS.language,
    pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$',
    patternErrorMessage: LANGUAGE_RULE,
    default: null,
    examples: ['en-US'],
  },
  timezone: {
    type: 'string',
    description:
      "Time zone in which dates such as `{{today}}` are counted, as an IANA name. Defaults to that of the language's main country, which the plan names",
    maxLength: LIMITS.timezone,
    pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
    patternErrorMessage: TIMEZONE_RULE,
    default: null,
    examples: ['Europe/Berlin'],
  },
  variables: {
    type: 'array',
    description:
      'Values for `{{name}}` in the scenario, instructions, script, checks and criteria, one object per case: the evaluation is run once for each. All have the same names. Without variables, too, `{{today}}`, `{{friday}}` and `{{+7d}}` are dates. `\\{{` stands for `{{` itself',
    items: {
      type: 'object',
      propertyNames: {
        pattern: VARIABLE_NAME,
        maxLength: LIMITS.variableName,
        patternErrorMessage:
          'must have only names of letters, digits, "_", "-" and "." that begin with a letter or "_"',
      },
      additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: LIMITS.variableValue },
      minProperties: 1,
      maxProperties: LIMITS.variables,
    },
    maxItems: LIMITS.rows,
    default: [],
    examples: [
      [],
      [
        { people: 4, time: '19:30' },
        { people: 2, time: '20:00' },
      ],
    ],
  },
  history: {
    type: 'array',
    description:
      'What was said and done before the call, which the agent gets as the conversation so far. No check matches it. Only for protocols that send the whole conversation: `chat-completions` and `retell-text`',
    items: ref('HistoryLine'),
    maxItems: LIMITS.history,
    default: [],
    examples: [[], [{ caller: 'A table for four on Friday, please.' }, { agent: 'At what time?' }]],
  },
  toolResults: {
    type: 'array',
    description:
      'What the tester returns for tools that the agent waits for; the first entry that fits a call and is not used up applies. A tool without entries returns `{"status":"ok"}`. If a tool has entries and none applies, the call is an `error` (`tool_result_missing`)',
    items: ref('ToolResult'),
    maxItems: LIMITS.toolResults,
    default: [],
    examples: [[], [{ tool: 'find_table', arguments: { people: 4 }, result: { times: ['19:00', '19:30'] } }]],
  },
  conditions: {
    type: 'object',
    description:
      'Conditions of the line on voice calls, such as noise; without effect over text. All of them are repeatable: the same `seed` gives the same noise, loss and jitter',
    allOf: [ref('LineConditions')],
    default: {},
    examples: [{ noise: { type: 'babble', snrDb: 20 }, packetLossPercent: 1 }],
  },
  turnEndMs: {
    type: 'integer',
    description:
      "Silence after which the caller takes the agent's turn for ended, in milliseconds; only voice calls use it. A shorter pause stays inside the turn",
    minimum: LIMITS.turnEndMs.min,
    maximum: LIMITS.turnEndMs.max,
    default: DEFAULTS.turnEndMs,
    examples: [700],
  },
  fillers: {
    type: 'boolean',
    description:
      'Whether a caller without a script says "um" or "let me see" when it thinks for more than 2.5 s; only voice calls use it',
    default: DEFAULTS.fillers,
    examples: [false],
  },
  agentVariables: {
    type: 'object',
    description:
      "Dynamic variables for the agent's platform, where it takes them: above the `variables` of the agent's connection, below `agentVariables` of the run. `{{name}}` stands for a value of the case. Shown in results, so they must not contain secrets",
    propertyNames: { minLength: 1, maxLength: LIMITS.variableName },
    additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: LIMITS.variableValue },
    maxProperties: LIMITS.agentVariables,
    default: {},
    examples: [{}, { customer: 'Rossi', people: '{{people}}' }],
  },
  scope: {
    type: 'string',
    description:
      'Whose calls it judges: those of `tests`, those that real callers had (`production`), or `both`. On a production call script, personality and variables play no part. Runs leave out evaluations of `production`',
    enum: SCOPES,
    default: 'tests',
    examples: ['tests'],
  },
  appliesTo: {
    type: ['object', 'null'],
    description:
      'A check that decides which production calls it judges: those on which the check is met. Without it, all; required with the scope `both`. A criterion cannot decide it',
    if: { type: 'null' },
    else: ref('Check'),
    default: null,
    examples: [null, { type: 'says', speaker: 'caller', text: 'table' }],
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

export type FieldName = keyof typeof fields;
export const FIELD_NAMES = Object.keys(fields) as FieldName[];

/** How an evaluation in a file names its personality, besides `personalityId`. */
const personality = {
  type: 'string',
  description:
    'Name of the personality of the caller, instead of `personalityId`: one of this file or of the workspace. It must be the name of exactly one personality',
  minLength: 1,
  maxLength: LIMITS.name,
  examples: [examplePersonality.name],
} as const satisfies JsonSchema;

const { key, name, scenarioText, generalInstructions, ...further } = fields;
/** The fields of an evaluation in a file, in display order. */
export const fileFields = { key, name, scenarioText, generalInstructions, personality, ...further };
export type FileFieldName = keyof typeof fileFields;
export const FILE_FIELD_NAMES = Object.keys(fileFields) as FileFieldName[];

/** What is validated: a new evaluation, the fields of a change, or an evaluation or personality in a file. */
export type InputKind = 'new' | 'change' | 'file' | 'personality';

const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema['type'], 'null'] });
const nullable = { ...fields, key: orNull(key), language: orNull(fields.language), timezone: orNull(fields.timezone) };

/** The schema of each input, with references to `definitions`. */
export const inputSchemas = {
  new: {
    type: 'object',
    properties: nullable,
    required: ['name', 'scenarioText', 'personalityId'],
    additionalProperties: false,
  },
  change: { type: 'object', properties: nullable, additionalProperties: false },
  file: {
    title: 'Evaluation',
    description: 'A test scenario of an agent. Import matches evaluations by `key`.',
    type: 'object',
    properties: { ...fileFields, language: orNull(fields.language), timezone: orNull(fields.timezone) },
    required: ['key', 'name', 'scenarioText'],
    oneOf: requiredEach('personality', 'personalityId'),
    additionalProperties: false,
  },
  personality: personalitySchema,
} as const satisfies Readonly<Record<InputKind, JsonSchema>>;

/** The first example of each field. */
export function exampleOf(names: readonly FieldName[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, (fields[name].examples as readonly unknown[])[0]]));
}

/** An evaluation in a file whose personality is named. */
export function exampleFileItem(): Record<string, unknown> {
  const example: Record<string, unknown> = { ...exampleOf(FIELD_NAMES), personality: personality.examples[0] };
  const names = FILE_FIELD_NAMES.filter((field) => field !== 'personalityId');
  return Object.fromEntries(names.map((field) => [field, example[field]]));
}
