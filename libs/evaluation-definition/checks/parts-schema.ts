import { DEFAULTS, LIMITS } from '../definition/limits.js';
import { requiredEach, type JsonSchema, matcherFields, oneMatcher, ref } from '../definition/json-schema.js';

export const judgement = {
  weight: {
    type: 'number',
    description: 'Share of the score, relative to the other checks and criteria',
    exclusiveMinimum: 0,
    maximum: LIMITS.weight,
    default: DEFAULTS.weight,
  },
  required: {
    type: 'boolean',
    description: 'Whether the call fails if this is not met; otherwise it only lowers the score',
    default: DEFAULTS.required,
  },
} as const;

/** The schema of a type of check: the given fields and those that all checks have. */
export const check =
  (
    title: string,
    description: string,
    fields: Readonly<Record<string, JsonSchema>>,
    needed: readonly string[],
    more: JsonSchema = {},
  ) =>
  (type: string): JsonSchema => ({
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
      ...judgement,
    },
    required: ['type', ...needed],
    additionalProperties: false,
    ...more,
  });

export const speaker = {
  type: 'string',
  description: 'Speaker whose words are checked',
  enum: ['agent', 'caller'],
  default: 'agent',
};

export const milliseconds = (description: string, minimum = 1): JsonSchema => ({
  type: 'integer',
  description,
  minimum,
  maximum: LIMITS.maxDurationSeconds * 1000,
});

export const spokenFields = { ...matcherFields, speaker };

export const toolFields = {
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
      'Only calls with these arguments count. Each given argument must be present with the same value, nested objects likewise; further arguments are ignored. For ranges, patterns and choices use `argumentsSchema`',
    examples: [{ people: 4 }],
  },
  argumentsSchema: {
    type: 'object',
    description:
      'Only calls whose arguments fit this JSON Schema (2020-12) count: at most 64 KiB, `$ref` only within the schema, patterns as RE2. `format` asserts nothing',
    examples: [{ properties: { people: { type: 'integer', minimum: 1, maximum: 8 } }, required: ['people'] }],
  },
};

export const turn = {
  type: ['integer', 'string'],
  description:
    'Only words of this turn count: `first` or `last` of the speaker, or a number. Turn n consists of the n-th words of the caller and the answer to them; 0 is the greeting of the agent',
  minimum: 0,
  maximum: LIMITS.maxTurns,
  pattern: '^(first|last)$',
  patternErrorMessage: 'must be a whole number, first or last',
  examples: ['first'],
};

export const turnNumber = {
  type: 'integer',
  description:
    'Only what the agent does in this turn counts: n is from the end of the n-th words of the caller until it speaks again, and 0 is before its first',
  minimum: 0,
  maximum: LIMITS.maxTurns,
  examples: [2],
};

export const placement = {
  after: {
    allOf: [ref('EventMatcher')],
    description: 'Only what happens after this has happened for the first time counts',
  },
  before: {
    allOf: [ref('EventMatcher')],
    description: 'Only what happens before this happens for the first time counts',
  },
  times: { allOf: [ref('Times')], description: 'How often it must happen' },
};

export const allowed = {
  type: 'array',
  description: 'What may be said nevertheless, for instance the own phone number',
  items: { type: 'string', minLength: 1, maxLength: LIMITS.allowedText },
  maxItems: LIMITS.allowed,
};

/** Named parts of the schema that several checks use. */
export const checkParts = {
  SpokenMatcher: {
    title: 'Spoken matcher',
    description: 'Matches part of what one side said, by either `text` or `pattern`.',
    type: 'object',
    properties: spokenFields,
    additionalProperties: false,
    ...oneMatcher,
  },
  EventMatcher: {
    title: 'Event',
    description: 'Something that happens on a call: words of one side, by `text` or `pattern`, or a call of a `tool`.',
    type: 'object',
    properties: { ...spokenFields, ...toolFields },
    additionalProperties: false,
    oneOf: requiredEach('text', 'pattern', 'tool'),
    dependentRequired: { partOfWord: ['text'], arguments: ['tool'], argumentsSchema: ['tool'] },
  },
  ValueSource: {
    title: 'Source of a value',
    description:
      'A named group of a `pattern` in the words of one side, a path in the arguments or the result of a `tool` call, or a fixed `value`, for instance of a variable.',
    type: 'object',
    properties: {
      pattern: {
        ...matcherFields.pattern,
        description: 'RE2 regular expression with a named group, whose text is the value',
        examples: ['(?i)costs (?P<price>[^.,]+)'],
      },
      speaker,
      group: {
        type: 'string',
        description: 'Name of the group; needed if there are several',
        minLength: 1,
        maxLength: 64,
      },
      tool: toolFields.tool,
      argument: {
        type: 'string',
        description: 'Path in the arguments',
        minLength: 1,
        maxLength: LIMITS.valuePath,
        examples: ['guest.name'],
      },
      result: {
        type: 'string',
        description: 'Path in the result',
        minLength: 1,
        maxLength: LIMITS.valuePath,
        examples: ['bookings[0].reference'],
      },
      value: {
        type: ['string', 'number', 'boolean'],
        description: 'The value itself',
        maxLength: 2_000,
        examples: ['45 euros'],
      },
      occurrence: {
        type: 'string',
        description: 'Which of several matches or calls counts',
        enum: ['first', 'last'],
        default: 'last',
      },
    },
    additionalProperties: false,
    oneOf: requiredEach('pattern', 'argument', 'result', 'value'),
    dependentRequired: { group: ['pattern'], argument: ['tool'], result: ['tool'] },
  },
  KeysReaction: {
    title: 'Reaction to keys',
    description:
      'What the agent does after the keys: its words, by `text` or `pattern`, a call of a `tool`, or a `transfer`.',
    type: 'object',
    properties: {
      ...spokenFields,
      ...toolFields,
      transfer: {
        type: ['boolean', 'string'],
        description: 'The agent passes the call on: `true` for any target, or words of the target, such as its number',
        minLength: 1,
        maxLength: LIMITS.matcherText,
        examples: [true, '+15550142'],
      },
    },
    additionalProperties: false,
    oneOf: requiredEach('text', 'pattern', 'tool', 'transfer'),
    dependentRequired: { partOfWord: ['text'], arguments: ['tool'], argumentsSchema: ['tool'] },
  },
  Times: {
    title: 'Times',
    description: 'How often something happens: by default at least once and any number of times.',
    type: 'object',
    properties: {
      min: {
        type: 'integer',
        description: 'At least this many times; 1 if it is not given, and 0 only together with `max`',
        minimum: 0,
        maximum: LIMITS.times,
      },
      max: { type: 'integer', description: 'At most this many times', minimum: 1, maximum: LIMITS.times },
    },
    additionalProperties: false,
    minProperties: 1,
    examples: [{ min: 1, max: 1 }],
  },
} as const;
