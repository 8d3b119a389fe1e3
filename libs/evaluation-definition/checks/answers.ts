import type { AnswersSpec } from '../definition/definition.js';
import { ref } from '../definition/json-schema.js';
import { PLAIN, rangeText, reversed } from './common.js';
import type { Kinds } from './kind.js';
import { check, turnNumber } from './parts-schema.js';

export const ANSWERS = {
  answers: {
    ...PLAIN,
    schema: check(
      'Answers',
      'The agent gives this many answers in each turn: with `max: 1` it answers no line twice. What announces a tool call ("One moment, please") and what follows are one answer; after other words the check may be undecided; on a voice call another one begins after a silence that ended the turn of the agent.',
      {
        times: {
          allOf: [ref('Times')],
          description: 'How many answers; unlike elsewhere, `min` is 0 if it is not given',
        },
        turn: turnNumber,
      },
      ['times'],
    ),
    needs: () => [],
    describe: ({ times: { min, max }, turn }) =>
      `the agent gives ${rangeText(min, max)} ${(max ?? min) === 1 ? 'answer' : 'answers'} in ${turn === undefined ? 'each turn' : `turn ${turn}`}`,
    violations: ({ times: { min, max } }) => [
      ...reversed(['times.min', min], ['times', max]),
      ...(min === 0 && max === undefined
        ? [[['times', 'min'], 'must be at least 1, or the check could never fail'] as const]
        : []),
    ],
    isProhibition: ({ times: { min = 0 } }) => min === 0,
    keepsDetail: true,
    notInRecording: null,
  },
} satisfies Pick<Kinds, AnswersSpec['type']>;
