import { type CaseState, caseState, redSince } from './case-state.js';

describe('the state of a case in a run', () => {
  it.each([
    [{ passed: 3, failed: 0 }, 'passed'],
    [{ passed: 2, failed: 1 }, 'flaky'],
    [{ passed: 0, failed: 1 }, 'failed'],
    [{ passed: 0, failed: 0 }, 'not_judged'],
  ])('of %j is %s', (counts, state) => expect(caseState(counts)).toBe(state));

  it('is red since the oldest of the newest results with a failed call', () => {
    const results = (['failed', 'flaky', 'failed', 'passed', 'failed'] as const).map((state, id) => ({ state, id }));
    expect(redSince(results)).toEqual({ state: 'failed', id: 2 });
  });

  it('is red since the same result if calls could not be judged in between or afterwards', () => {
    const results = (['not_judged', 'failed', 'not_judged', 'failed', 'not_judged', 'passed'] as const).map(
      (state, id) => ({ state, id }),
    );
    expect(redSince(results)).toEqual({ state: 'failed', id: 3 });
  });

  it('is not red if the newest judged result is green, or if nothing was judged', () => {
    for (const states of [
      ['passed', 'failed'],
      ['not_judged', 'passed', 'failed'],
      ['not_judged'],
      [],
    ] as CaseState[][])
      expect(redSince(states.map((state) => ({ state })))).toBeUndefined();
  });
});
