import type { CriterionSpec } from '../definition/definition.js';
import { LIMITS } from '../definition/limits.js';
import { fold } from '../matching/matcher.js';
import { PLAIN, shown } from './common.js';
import type { Kinds } from './kind.js';
import { check, turnNumber } from './parts-schema.js';

export const CRITERION = {
  criterion: {
    ...PLAIN,
    schema: check(
      'Criterion as a check',
      'The judge, a language model, finds that the statement is true, with a quote from the transcript as evidence. Undecided without a verdict.',
      {
        criterion: {
          type: 'string',
          description: 'One statement about the call that is either true or not',
          minLength: 1,
          maxLength: LIMITS.criterion,
          examples: ['The agent says that seven is taken and offers another time.'],
        },
        turn: turnNumber,
      },
      ['criterion'],
    ),
    needs: () => ['words'],
    describe: ({ criterion, turn }) =>
      `the judge confirms${turn === undefined ? '' : `, of turn ${turn},`} "${shown(criterion)}"`,
    violations: ({ criterion }) =>
      fold(criterion) === '' ? [[['criterion'], 'must not consist of white space only']] : [],
    subject: ({ type, criterion, turn }) => [`${type} ${turn} ${fold(criterion)}`, type],
    notInRecording: null,
  },
} satisfies Pick<Kinds, CriterionSpec['type']>;
