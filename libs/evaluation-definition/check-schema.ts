import { DEFAULTS, LIMITS } from './limits.js';
import { exactlyOne, type JsonSchema, matcherFields, ref } from './script-schema.js';

const weight = {
  type: 'number',
  description: 'Share of the score, relative to the other checks and criteria',
  exclusiveMinimum: 0,
  maximum: LIMITS.weight,
  default: DEFAULTS.weight,
};
const required = {
  type: 'boolean',
  description: 'Whether the call is failed when this is not met; otherwise it only lowers the score',
  default: DEFAULTS.required,
};
const speaker = { type: 'string', description: 'Whose words', enum: ['agent', 'caller'], default: 'agent' };
const milliseconds = (description: string): JsonSchema => ({
  type: 'integer',
  description,
  minimum: 1,
  maximum: LIMITS.maxDurationSeconds * 1000,
});

/** A check: its own fields between its type and those that all checks have. */
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
        description: 'Name in the result; without one the check is described by its fields',
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
const oneMatcher = { oneOf: exactlyOne('text', 'pattern') };
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
      'Only calls with these arguments count. Each one given must be there with the same value, objects inside likewise; further arguments do not matter',
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
      'At most so many turns',
      'The call has at most so many turns. A turn is one exchange: the caller speaks, the agent answers.',
      { turns: { type: 'integer', description: 'Most turns', minimum: 1, maximum: LIMITS.maxTurns } },
      ['turns'],
    ),
  ],
  max_duration_ms: [
    'MaxDurationCheck',
    check('max_duration_ms', 'Lasts at most', 'The call lasts at most so long.', { ms: milliseconds('Milliseconds') }, [
      'ms',
    ]),
  ],
  max_latency_ms: [
    'MaxLatencyCheck',
    check(
      'max_latency_ms',
      'Answers within',
      "The agent's answers begin within this time after the caller's turn.",
      {
        ms: milliseconds('Milliseconds'),
        percentile: {
          type: 'integer',
          description: 'How many percent of the answers must be so quick; 100 is all of them',
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
      'Is silent for at most',
      'Nobody is silent for longer than this at any time of the call.',
      { ms: milliseconds('Milliseconds') },
      ['ms'],
    ),
  ],
  says_before: [
    'SaysBeforeCheck',
    check(
      'says_before',
      'Says before',
      'Both things are said, and the first one earlier than the other.',
      {
        first: { allOf: [ref('SpokenMatcher')], description: 'What is said earlier' },
        then: { allOf: [ref('SpokenMatcher')], description: 'What is said later' },
      },
      ['first', 'then'],
    ),
  ],
} as const;

/** Which part of the schema describes which type of check. */
export const CHECK_DEFINITIONS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(CHECKS).map(([type, [name]]) => [type, name]),
);

/** Named parts of the schema that describe checks and criteria. */
export const checkDefinitions = {
  SpokenMatcher: {
    title: 'Spoken matcher',
    description: 'Finds a part of what one side said: either `text` or `pattern`.',
    type: 'object',
    properties: spoken,
    additionalProperties: false,
    ...oneMatcher,
  },
  ...(Object.fromEntries(Object.values(CHECKS)) as Readonly<Record<string, JsonSchema>>),
  Check: {
    title: 'Check',
    description: 'A deterministic condition on what happened on the call.',
    type: 'object',
    discriminator: { propertyName: 'type' },
    oneOf: Object.values(CHECKS).map(([name]) => ref(name)),
  },
  Criterion: {
    title: 'Criterion',
    description: 'A sentence that a judge, a language model, decides with a quote from the transcript as evidence.',
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
