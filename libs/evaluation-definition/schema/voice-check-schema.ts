import { check, milliseconds } from './check-parts-schema.js';
import { LIMITS } from '../definition/limits.js';
import { exactlyOne, type JsonSchema, ref } from './script-schema.js';

const wordsPerMinute = (description: string): JsonSchema => ({
  type: 'number',
  description,
  minimum: 1,
  maximum: 1_000,
});
const dbfs = (description: string): JsonSchema => ({ type: 'number', description, minimum: -100, maximum: 0 });

/** The schema of each type of check of voice calls, and of `understood`. */
export const VOICE_CHECKS = {
  yields_within_ms: check(
    'Yields to a barge-in',
    'When the caller barges in (`bargeIn`), the agent is silent within this time. Undecided if no barge-in was possible.',
    {
      ms: {
        type: 'integer',
        description: "Milliseconds from the onset of the caller's line to the end of the agent's sound",
        minimum: 1,
        maximum: LIMITS.yieldMs,
        examples: [1000],
      },
    },
    ['ms'],
  ),
  keeps_speaking: check(
    'Keeps speaking',
    'The agent keeps its turn through every `backchannel` and `noise` of the script, and does not answer a noise in silence. Undecided if none of them was possible.',
    {},
    [],
  ),
  max_interruptions: check(
    'Maximum number of interruptions',
    'The agent begins to speak while the caller speaks or hesitates at most this often. Overlaps below 300 ms do not count.',
    {
      count: {
        type: 'integer',
        description: 'Maximum number of interruptions',
        minimum: 0,
        maximum: LIMITS.interruptions,
        examples: [0],
      },
    },
    ['count'],
  ),
  max_overlap_ms: check(
    'Maximum overlap',
    "The agent's interruptions overlap the caller's speech for at most this long in the whole call. Barge-ins of the caller do not count.",
    { ms: milliseconds('Milliseconds', 0) },
    ['ms'],
  ),
  speaking_rate: check(
    'Speaking rate',
    "The agent's words per minute of its speech are within these limits.",
    { minWpm: wordsPerMinute('Minimum words per minute'), maxWpm: wordsPerMinute('Maximum words per minute') },
    [],
    { anyOf: exactlyOne('minWpm', 'maxWpm') },
  ),
  audio_level: check(
    'Level',
    "The level of the agent's active speech is within these limits, and at most this share of its audio is clipped. Not met if the agent sent audio that cannot be heard.",
    {
      minDbfs: dbfs('Minimum level in dBFS; telephone speech is usually at about -26'),
      maxDbfs: dbfs('Maximum level in dBFS'),
      maxClippedPercent: {
        type: 'number',
        description: 'Maximum share of the samples that lie in runs at full scale, in percent',
        minimum: 0,
        maximum: 100,
      },
    },
    [],
    { anyOf: exactlyOne('minDbfs', 'maxDbfs', 'maxClippedPercent') },
  ),
  max_choppiness: check(
    'Maximum choppiness',
    "The agent's speech has at most this many gaps per minute, because its audio came too late. Fewer than three gaps in a call never fail.",
    {
      perMinute: {
        type: 'number',
        description: 'Maximum number of gaps per minute of agent speech',
        minimum: 0,
        maximum: LIMITS.gapsPerMinute,
        examples: [2],
      },
    },
    ['perMinute'],
  ),
  clean_protocol: check(
    'Clean protocol',
    'The agent does not deviate from the protocol of its platform in a way that the caller hears or the platform ignores: there is no wire finding of severity `error`.',
    {},
    [],
  ),
  hears_keys: check(
    'Hears keys',
    'The agent acts on keys that the caller presses (`press`): as `then` says or, without it, by saying something or transferring the call before the caller acts again.',
    {
      keys: {
        type: 'string',
        description: 'The keys, as in a `press` step of the script, without `w`',
        minLength: 1,
        maxLength: LIMITS.keys,
        pattern: '^[0-9*#A-D]+$',
        patternErrorMessage: 'must consist of 0 to 9, *, # and A to D',
        examples: ['123#'],
      },
      then: {
        allOf: [ref('KeysReaction')],
        description: 'What the agent does after the last of the keys, and before the caller acts again',
      },
    },
    ['keys'],
  ),
  understood: check(
    'Understood',
    'What the caller said arrives in the arguments of tools: all values are the same, compared as `same_value` does.',
    {
      values: {
        type: 'array',
        description: 'Where the values come from; at least one is an argument of a tool',
        items: ref('ValueSource'),
        minItems: 2,
        maxItems: LIMITS.sources,
        examples: [[{ value: 'Rossi' }, { tool: 'book_table', argument: 'name' }]],
      },
    },
    ['values'],
  ),
} as const;
