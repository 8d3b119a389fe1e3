import type { MaxAnswerWordsSpec, MaxTurnsSpec, TalkRatioSpec } from '../definition/definition.js';
import { requiredEach } from '../definition/json-schema.js';
import { LIMITS } from '../definition/limits.js';
import { PLAIN, rangeText, reversed } from './common.js';
import type { Found, Kinds } from './kind.js';
import { check } from './parts-schema.js';

/** A number of turns or words. */
const AMOUNT = { ...PLAIN, keepsDetail: true, notInRecording: null };

export const TURNS = {
  max_turns: {
    ...AMOUNT,
    schema: check(
      'Maximum number of turns',
      'The call has at most this many turns. A turn is one exchange: the caller speaks, the agent responds.',
      { turns: { type: 'integer', description: 'Maximum number of turns', minimum: 1, maximum: LIMITS.maxTurns } },
      ['turns'],
    ),
    needs: () => [],
    describe: ({ turns }) => `at most ${turns} turns`,
    violations: ({ turns }, { maxTurns }) =>
      maxTurns === undefined || turns < maxTurns
        ? []
        : [[['turns'], `must be less than maxTurns (${maxTurns}), or the check could never fail`]],
  },
} satisfies Pick<Kinds, MaxTurnsSpec['type']>;

export const WORDS = {
  max_answer_words: {
    ...AMOUNT,
    schema: check(
      'Maximum words of an answer',
      'No answer of the agent has more words than this.',
      { words: { type: 'integer', description: 'Maximum number of words', minimum: 1, maximum: LIMITS.answerWords } },
      ['words'],
    ),
    needs: () => ['words'],
    describe: ({ words }) => `no answer has more than ${words} words`,
    ofAgentAlone: true,
  },
  talk_ratio: {
    ...AMOUNT,
    schema: check(
      'Talk ratio',
      "The agent's share of all words is within these limits.",
      {
        min: { type: 'number', description: 'Minimum share, 0 to 1', minimum: 0, maximum: 1 },
        max: { type: 'number', description: 'Maximum share, 0 to 1', minimum: 0, maximum: 1 },
      },
      [],
      { anyOf: requiredEach('min', 'max') },
    ),
    needs: () => ['words'],
    describe: ({ min, max }) => `the agent says ${rangeText(min, max)} of all words`,
    violations: ratioViolations,
  },
} satisfies Pick<Kinds, (MaxAnswerWordsSpec | TalkRatioSpec)['type']>;

function ratioViolations({ min = 0, max = 1 }: TalkRatioSpec): Found[] {
  return min === 0 && max === 1 ? [[[], 'could never fail: limit min or max']] : reversed(['min', min], ['max', max]);
}
