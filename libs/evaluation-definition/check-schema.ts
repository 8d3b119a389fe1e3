import { DEFAULTS, LIMITS } from './limits.js';
import { type JsonSchema, matcherFields, oneMatcher, ref } from './script-schema.js';

const weight = {
  type: 'number',
  description: 'Share of the score, relative to the other checks and criteria',
  exclusiveMinimum: 0,
  maximum: LIMITS.weight,
  default: DEFAULTS.weight,
};
const required = {
  type: 'boolean',
  description: 'Whether the call fails if this is not met; otherwise it only lowers the score',
  default: DEFAULTS.required,
};
const speaker = {
  type: 'string',
  description: 'Speaker whose words are checked',
  enum: ['agent', 'caller'],
  default: 'agent',
};
const milliseconds = (description: string): JsonSchema => ({
  type: 'integer',
  description,
  minimum: 1,
  maximum: LIMITS.maxDurationSeconds * 1000,
});

/** The schema of a check: the given fields and those that all checks have. */
function check(
  type: string,
  title: string,
  description: string,
  fields: Readonly<Record<string, JsonSchema>>,
  needed: readonly string[],
  more: JsonSchema = {},
): JsonSchema {
  return {
    title,
    description,
    type: 'object',
    properties: {
      type: { const: type, description: 'Kind of the check' },
      name: {
        type: 'string',
        description: 'Name in the result; by default a description of the check',
        minLength: 1,
        maxLength: LIMITS.name,
      },
      ...fields,
      weight,
      required,
    },
    required: ['type', ...needed],
    additionalProperties: false,
    ...more,
  };
}

const spoken = { ...matcherFields, speaker };
const tool = {
  tool: {
    type: 'string',
    description: 'Name of the tool, exactly as the agent calls it',
    minLength: 1,
    maxLength: LIMITS.tool,
    examples: ['book_table'],
  },
  arguments: {
    type: 'object',
    description:
      'Only calls with these arguments count. Each given argument must be present with the same value, nested objects likewise; further arguments are ignored',
    examples: [{ people: 4 }],
  },
};

/** Named parts of the schema, one per type of check. */
const CHECKS = {
  says: ['SaysCheck', check('says', 'Says', 'The speaker says this at least once.', spoken, [], oneMatcher)],
  never_says: [
    'NeverSaysCheck',
    check('never_says', 'Never says', 'The speaker never says this.', spoken, [], oneMatcher),
  ],
  calls_tool: ['CallsToolCheck', check('calls_tool', 'Calls a tool', 'The agent calls the tool.', tool, ['tool'])],
  never_calls_tool: [
    'NeverCallsToolCheck',
    check('never_calls_tool', 'Never calls a tool', 'The agent never calls the tool.', tool, ['tool']),
  ],
  ends_by: [
    'EndsByCheck',
    check(
      'ends_by',
      'Ends by',
      'The call is ended by this side.',
      { by: { type: 'string', description: 'Who ends the call', enum: ['caller', 'agent'] } },
      ['by'],
    ),
  ],
  max_turns: [
    'MaxTurnsCheck',
    check(
      'max_turns',
      'Maximum number of turns',
      'The call has at most this many turns. A turn is one exchange: the caller speaks, the agent responds.',
      { turns: { type: 'integer', description: 'Maximum number of turns', minimum: 1, maximum: LIMITS.maxTurns } },
      ['turns'],
    ),
  ],
  max_duration_ms: [
    'MaxDurationCheck',
    check(
      'max_duration_ms',
      'Maximum duration',
      'The call lasts at most this long.',
      { ms: milliseconds('Milliseconds') },
      ['ms'],
    ),
  ],
  max_latency_ms: [
    'MaxLatencyCheck',
    check(
      'max_latency_ms',
      'Maximum latency',
      "The agent's responses begin within this time after the caller's turn.",
      {
        ms: milliseconds('Milliseconds'),
        percentile: {
          type: 'integer',
          description: 'Percentage of the responses that must be within the limit; 100 means all',
          enum: [50, 90, 95, 99, 100],
          default: DEFAULTS.percentile,
        },
      },
      ['ms'],
    ),
  ],
  max_silence_ms: [
    'MaxSilenceCheck',
    check(
      'max_silence_ms',
      'Maximum silence',
      'No silence during the call is longer than this.',
      { ms: milliseconds('Milliseconds') },
      ['ms'],
    ),
  ],
  says_before: [
    'SaysBeforeCheck',
    check(
      'says_before',
      'Says before',
      'Both are said, `first` before `then`.',
      {
        first: { allOf: [ref('SpokenMatcher')], description: 'What is said earlier' },
        then: { allOf: [ref('SpokenMatcher')], description: 'What is said later' },
      },
      ['first', 'then'],
    ),
  ],
} as const;

/** Name of the schema part of each type of check. */
export const CHECK_DEFINITIONS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(CHECKS).map(([type, [name]]) => [type, name]),
);

/** Named parts of the schema that describe checks and criteria. */
export const checkDefinitions = {
  SpokenMatcher: {
    title: 'Spoken matcher',
    description: 'Matches part of what one side said, by either `text` or `pattern`.',
    type: 'object',
    properties: spoken,
    additionalProperties: false,
    ...oneMatcher,
  },
  ...(Object.fromEntries(Object.values(CHECKS)) as Readonly<Record<string, JsonSchema>>),
  Check: {
    title: 'Check',
    description: 'A deterministic condition on what happened during the call.',
    type: 'object',
    discriminator: { propertyName: 'type' },
    oneOf: Object.values(CHECKS).map(([name]) => ref(name)),
  },
  Criterion: {
    title: 'Criterion',
    description: 'A statement that a judge, a language model, decides with a quote from the transcript as evidence.',
    type: 'object',
    properties: {
      text: {
        type: 'string',
        description: 'One statement about the call that is either true or not',
        minLength: 1,
        maxLength: LIMITS.criterion,
        examples: ['The agent repeats the date, the time and the number of people before it books.'],
      },
      weight,
      required,
    },
    required: ['text'],
    additionalProperties: false,
  },
} as const;
