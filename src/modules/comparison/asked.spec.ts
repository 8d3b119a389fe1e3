import { normalise } from '../../../libs/evaluation-definition/index.js';
import { type Asked, askedWarnings } from './asked.js';

const asked = (checks: object[], more: Partial<Omit<Asked, 'criteria'>> & { criteria?: any[] } = {}): Asked => {
  const definition = { personalityId: 'any', name: 'any', scenarioText: 'any', checks, criteria: more.criteria ?? [] };
  const normal = normalise(definition as any);
  return {
    ...{ evaluationId: 'any', caller: 'a', undecided: [] },
    ...more,
    ...{ checks: normal.checks, criteria: normal.criteria },
  };
};
const warningsOf = (current: Asked, baseline: Asked) => askedWarnings([{ name: 'Hours', current, baseline }]);

const TIME = { type: 'says', name: 'Says the time', text: '10 pm' };
const BOOKS = { type: 'calls_tool', name: 'Books', tool: 'book_table' };

describe('askedWarnings', () => {
  it('has none for cases that are asked the same', () => {
    const criteria = [{ text: 'It is polite' }];
    expect(warningsOf(asked([TIME, BOOKS], { criteria }), asked([BOOKS, TIME], { criteria }))).toEqual([]);
    // Undecided in both: not a difference that a check makes.
    expect(warningsOf(asked([TIME]), asked([TIME], { undecided: ['Removed since'] }))).toEqual([]);
  });

  it('names the checks and criteria of one run alone, and those that are not the same', () => {
    const current = asked([{ ...TIME, text: '11 pm' }], { criteria: [{ text: 'It is polite' }] });
    expect(warningsOf(current, asked([TIME, BOOKS]))).toEqual([
      '"Hours": "It is polite" is only in this run; "Books" is only in the other run; "Says the time" is not the same in both runs.',
    ]);
    // One without a name is named by what it asks; of two with the same name each counts.
    expect(warningsOf(asked([{ type: 'says', text: 'noon' }]), asked([]))[0]).toMatch(/noon.* is only in this run/);
    expect(warningsOf(asked([TIME, { ...TIME, text: 'noon' }]), asked([TIME]))).toHaveLength(1);
  });

  it('names checks that one run decided in none of its calls, and another script', () => {
    expect(warningsOf(asked([TIME], { undecided: [TIME.name] }), asked([TIME], { caller: 'b' }))).toEqual([
      '"Hours": "Says the time" is not decided in any call of this run; the scenario or script of the caller is not the same in both runs.',
    ]);
  });

  it('counts what it does not list', () => {
    const names = Array.from({ length: 8 }, (_, index) => ({ ...TIME, name: `Check ${index}` }));
    const one = { name: 'Many', current: asked(names), baseline: asked([]) };
    const warnings = askedWarnings(Array.from({ length: 12 }, () => one));
    expect(warnings[0]).toContain('"Check 4" and 3 more are only in this run');
    expect(warnings.slice(10)).toEqual(['2 more cases are not asked the same in both runs.']);
  });
});
