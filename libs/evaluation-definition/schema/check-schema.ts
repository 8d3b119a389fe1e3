import {
  check,
  checkParts,
  judgement,
  milliseconds,
  placement,
  speaker,
  spokenFields as spoken,
  toolFields as tool,
  turn,
} from './check-parts-schema.js';
import { ENDED_BY, PERSONAL_DATA_KINDS } from '../definition/definition.js';
import { VOICE_CHECKS } from './voice-check-schema.js';
import { DEFAULTS, LIMITS } from '../definition/limits.js';
import { exactlyOne, type JsonSchema, oneMatcher, ref } from './script-schema.js';

const nested = (description: string): JsonSchema => ({ allOf: [ref('Check')], description });
const nestedChecks = {
  type: 'array',
  description: 'Checks; they may contain checks themselves, but no deeper ones. Weights belong to the outermost check',
  items: ref('Check'),
  minItems: 1,
  maxItems: LIMITS.nestedChecks,
};

const allowed = {
  type: 'array',
  description: 'What may be said nevertheless, for instance the own phone number',
  items: { type: 'string', minLength: 1, maxLength: LIMITS.allowedText },
  maxItems: LIMITS.allowed,
};

/** The schema of each type of check. */
const CHECKS = {
  says: check(
    'Says',
    'The speaker says this: at least once, or as often as `times` says.',
    { ...spoken, turn, ...placement },
    [],
    oneMatcher,
  ),
  never_says: check(
    'Never says',
    'The speaker never says this, or fewer than `times.min` times.',
    { ...spoken, turn, ...placement },
    [],
    oneMatcher,
  ),
  calls_tool: check(
    'Calls a tool',
    'The agent calls the tool: at least once, or as often as `times` says.',
    { ...tool, ...placement },
    ['tool'],
  ),
  never_calls_tool: check(
    'Never calls a tool',
    'The agent never calls the tool, or fewer than `times.min` times.',
    { ...tool, ...placement },
    ['tool'],
  ),
  in_order: check(
    'In order',
    'All events happen, in this order. The first time that each happens counts; an event that is listed twice must happen twice.',
    {
      events: {
        type: 'array',
        description: 'Words of either side and tool calls',
        items: ref('EventMatcher'),
        minItems: 2,
        maxItems: LIMITS.events,
        examples: [[{ text: 'shall I book' }, { text: 'yes', speaker: 'caller' }, { tool: 'book_table' }]],
      },
    },
    ['events'],
  ),
  any_of: check('Any of', 'At least one of the checks is met.', { checks: nestedChecks }, ['checks']),
  all_of: check('All of', 'All of the checks are met.', { checks: nestedChecks }, ['checks']),
  not: check('Not', 'The check is not met.', { check: nested('Check that must not be met') }, ['check']),
  when: check(
    'When',
    'If the first check is met, so is the second. If the first is not met, this check is.',
    { if: nested('Condition'), then: nested('Check that must be met if the condition is') },
    ['if', 'then'],
  ),
  ends_by: check(
    'Ends by',
    'The call is ended by this side.',
    {
      by: { type: 'string', description: 'Who ends the call', enum: ['caller', 'agent'] },
      code: {
        type: 'string',
        description: 'How the call ends: the `end.code` of the result',
        enum: [...ENDED_BY.agent, ...ENDED_BY.caller],
      },
      withinMs: milliseconds('Milliseconds from the end of the first goodbye of either side to the end of the call'),
    },
    ['by'],
  ),
  max_turns: check(
    'Maximum number of turns',
    'The call has at most this many turns. A turn is one exchange: the caller speaks, the agent responds.',
    { turns: { type: 'integer', description: 'Maximum number of turns', minimum: 1, maximum: LIMITS.maxTurns } },
    ['turns'],
  ),
  max_duration_ms: check(
    'Maximum duration',
    'The call lasts at most this long; on a voice call without the time in which the caller thinks.',
    { ms: milliseconds('Milliseconds') },
    ['ms'],
  ),
  max_latency_ms: check(
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
  max_silence_ms: check(
    'Maximum silence',
    'No silence during the call is longer than this.',
    { ms: milliseconds('Milliseconds') },
    ['ms'],
  ),
  max_time_to_first_word_ms: check(
    'Maximum time to the first word',
    'The agent says its first word within this time of the start of the call.',
    { ms: milliseconds('Milliseconds') },
    ['ms'],
  ),
  max_pause_ms: check(
    'Maximum pause',
    'No pause inside an answer of the agent is longer than this. Pauses below 500 ms are not recorded.',
    { ms: milliseconds('Milliseconds', 500) },
    ['ms'],
  ),
  max_answer_words: check(
    'Maximum words of an answer',
    'No answer of the agent has more words than this.',
    { words: { type: 'integer', description: 'Maximum number of words', minimum: 1, maximum: LIMITS.answerWords } },
    ['words'],
  ),
  talk_ratio: check(
    'Talk ratio',
    "The agent's share of all words is within these limits.",
    {
      min: { type: 'number', description: 'Minimum share, 0 to 1', minimum: 0, maximum: 1 },
      max: { type: 'number', description: 'Maximum share, 0 to 1', minimum: 0, maximum: 1 },
    },
    [],
    { anyOf: exactlyOne('min', 'max') },
  ),
  language: check(
    'Language',
    'The agent answers in this language. Undecided if it says too little to tell.',
    {
      language: {
        type: 'string',
        description: 'Language as BCP 47; only the first part counts, so `en` and `en-GB` mean the same',
        minLength: 2,
        maxLength: 35,
        pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$',
        patternErrorMessage: 'must be a language such as en or de-AT',
        examples: ['en'],
      },
    },
    ['language'],
  ),
  speakable: check(
    'Speakable',
    'The agent says nothing that a voice would stumble over: Markdown, web and e-mail addresses, emoji, long runs of digits.',
    {
      maxDigits: {
        type: 'integer',
        description: 'Maximum number of digits run together; 4 if absent, as in years',
        minimum: 1,
        maximum: 20,
      },
      allow: allowed,
    },
    [],
  ),
  no_personal_data: check(
    'No personal data',
    'The speaker says no card number (with a valid check digit), IBAN (likewise), e-mail address or phone number. What is found is never shown in full.',
    {
      speaker,
      kinds: {
        type: 'array',
        description: 'Kinds of data; all if absent',
        items: { type: 'string', enum: PERSONAL_DATA_KINDS },
        minItems: 1,
        uniqueItems: true,
      },
      allow: allowed,
    },
    [],
  ),
  same_value: check(
    'Same value',
    'All sources hold the same value: "forty-five euros" equals "€45", "2:35 pm" equals 14:35, "Q X 7" equals QX7.',
    {
      sources: {
        type: 'array',
        description: 'Where the values come from',
        items: ref('ValueSource'),
        minItems: 2,
        maxItems: LIMITS.sources,
      },
    },
    ['sources'],
  ),
  says_before: check(
    'Says before',
    'Both are said, `first` before `then`.',
    {
      first: { allOf: [ref('SpokenMatcher')], description: 'What is said earlier' },
      then: { allOf: [ref('SpokenMatcher')], description: 'What is said later' },
    },
    ['first', 'then'],
  ),
  ...VOICE_CHECKS,
} as const;

/** `MaxLatencyCheck` for `max_latency_ms`. */
const partName = (type: string): string =>
  `${type.replace(/_ms$/, '').replace(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase())}Check`;

/** Name of the schema part of each type of check. */
export const CHECK_DEFINITIONS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(CHECKS).map((type) => [type, partName(type)]),
);

/** Named parts of the schema that describe checks and criteria. */
export const checkDefinitions = {
  ...checkParts,
  ...Object.fromEntries(Object.entries(CHECKS).map(([type, schema]) => [partName(type), schema(type)])),
  Check: {
    title: 'Check',
    description: 'A deterministic condition on what happened during the call.',
    type: 'object',
    discriminator: { propertyName: 'type' },
    oneOf: Object.values(CHECK_DEFINITIONS).map(ref),
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
      ...judgement,
    },
    required: ['text'],
    additionalProperties: false,
  },
} as const;
