import { type DefinitionInput, normalise } from '../../../../libs/evaluation-definition/index.js';
import type { PlannedEvaluation } from './plan.js';
import { explanationOf } from './plan-explanation.js';

const explained = (input: DefinitionInput) =>
  explanationOf({
    snapshot: {
      personality: { name: 'Regular' },
      definition: normalise(input),
    } as unknown as PlannedEvaluation['snapshot'],
  });

describe('explanationOf', () => {
  it('says what a scripted caller does, and describes checks, criteria and limits', () => {
    expect(
      explained({
        script: [
          { say: 'A table,\n please.' },
          { waitSeconds: 1 },
          {
            answers: [{ when: { says: { text: 'name' } }, say: 'Rossi.' }],
            until: { says: { pattern: 'booked' }, notSays: { text: 'sorry' } },
            otherwise: 'Yes.',
          },
          { when: { says: { text: 'sorry' } }, say: 'Why?' },
          { end: 'Done' },
        ],
        checks: [
          { type: 'calls_tool', tool: 'book', after: { text: 'yes', speaker: 'caller' }, times: { max: 1 } },
          {
            type: 'any_of',
            checks: [
              { type: 'says', text: 'a' },
              { type: 'not', check: { type: 'says', pattern: 'b' } },
            ],
          },
          { type: 'language', name: 'German', language: 'de', required: false },
        ],
        criteria: [{ text: 'Polite.' }, { text: 'Short.', required: false }],
        maxTurns: 5,
      }),
    ).toEqual([
      'The caller says "A table, please."',
      'The caller is silent for 1 second.',
      'The caller gives 1 answer in any order until the agent said /booked/ and the agent did not say "sorry", and otherwise says "Yes."',
      'If the agent said "sorry", the caller says "Why?"',
      'The caller hangs up: Done.',
      'Check: Agent calls book after caller says "yes", exactly once.',
      'Check: At least one of: agent says "a"; not: agent says /b/.',
      'Check "German", which only lowers the score: The agent answers in German, de.',
      'Criterion for the judge: "Polite."',
      'Criterion for the judge, which only lowers the score: "Short."',
      'The call is cut off after 5 turns or 600 seconds.',
    ]);
  });

  it('says that a language model plays a caller without a script, and shortens long scripts', () => {
    expect(explained({})).toEqual([
      'A language model plays the caller "Regular".',
      'The call is cut off after 40 turns or 600 seconds.',
    ]);
    const long = explained({ script: Array.from({ length: 25 }, () => ({ say: 'x'.repeat(500) })) });
    expect(long).toHaveLength(22);
    expect(long[20]).toBe('The script has 5 more steps.');
    expect(long[0]!.length).toBeLessThan(160);
  });

  it('describes checks whose variables are not replaced yet', () => {
    const checks = [{ type: 'language', language: '{{language}}' }] as DefinitionInput['checks'];
    expect(explained({ checks: checks! })[1]).toBe('Check: The agent answers in {{language}}.');
  });
});
