import {
  check,
  checkParts,
  judgement,
  milliseconds,
  placement,
  spokenFields as spoken,
  toolFields as tool,
  turn,
} from './check-parts-schema.js';
import { DEFAULTS, LIMITS } from './limits.js';
import { type JsonSchema, oneMatcher, ref } from './script-schema.js';

const nested = (description: string): JsonSchema => ({ allOf: [ref('Check')], description });
const nestedChecks = {
  type: 'array',
  description: 'Checks; they may contain checks themselves, but no deeper ones. Weights belong to the outermost check',
  items: ref('Check'),
  minItems: 1,
  maxItems: LIMITS.nestedChecks,
};

/** Named parts of the schema, one per type of check. */
const CHECKS = {
  says: [
    'SaysCheck',
    check(
      'says',
      'Says',
      'The speaker says this: at least once, or as often as `times` says.',
      { ...spoken, turn, ...placement },
      [],
      oneMatcher,
    ),
  ],
  never_says: [
    'NeverSaysCheck',
    check(
      'never_says',
      'Never says',
      'The speaker never says this, or fewer than `times.min` times.',
      { ...spoken, turn, ...placement },
      [],
      oneMatcher,
    ),
  ],
  calls_tool: [
    'CallsToolCheck',
    check(
      'calls_tool',
      'Calls a tool',
      'The agent calls the tool: at least once, or as often as `times` says.',
      { ...tool, ...placement },
      ['tool'],
    ),
  ],
  never_calls_tool: [
    'NeverCallsToolCheck',
    check(
      'never_calls_tool',
      'Never calls a tool',
      'The agent never calls the tool, or fewer than `times.min` times.',
      { ...tool, ...placement },
      ['tool'],
    ),
  ],
  in_order: [
    'InOrderCheck',
    check(
      'in_order',
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
  ],
  any_of: [
    'AnyOfCheck',
    check('any_of', 'Any of', 'At least one of the checks is met.', { checks: nestedChecks }, ['checks']),
  ],
  all_of: ['AllOfCheck', check('all_of', 'All of', 'All of the checks are met.', { checks: nestedChecks }, ['checks'])],
  not: [
    'NotCheck',
    check('not', 'Not', 'The check is not met.', { check: nested('Check that must not be met') }, ['check']),
  ],
  when: [
    'WhenCheck',
    check(
      'when',
      'When',
      'If the first check is met, so is the second. If the first is not met, this check is.',
      { if: nested('Condition'), then: nested('Check that must be met if the condition is') },
      ['if', 'then'],
    ),
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
  ...checkParts,
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
      ...judgement,
    },
    required: ['text'],
    additionalProperties: false,
  },
} as const;
