import { derivedPlan } from './derived-plan.js';

/** A plan of evaluations with these numbers of cases. */
function planned(cases: Readonly<Record<string, number>>, repeat: number) {
  const of = Object.entries(cases).flatMap(([id, count]) => Array.from({ length: count * repeat }, () => id));
  return of.map((evaluationId, position) => ({
    id: `${evaluationId}${position}`,
    evaluationId,
    position,
    repetition: (position % repeat) + 1,
  }));
}

describe('derivedPlan', () => {
  it('is the plan of the run if no call is left out', () => {
    const calls = planned({ a: 1, b: 2 }, 3);
    const evaluations = [
      { id: 'a', firstCall: 0, cases: 1 },
      { id: 'b', firstCall: 3, cases: 2 },
    ];
    expect(derivedPlan(calls, 3)).toEqual({ evaluations, calls });
  });

  it('has the first call of each case in its place, whichever are left out', () => {
    const all = planned({ a: 1, b: 3, c: 1 }, 2);
    // Left out: the first call of a, the second case of b and the last call of its third case, all of c.
    const { evaluations, calls } = derivedPlan(
      [1, 2, 3, 6].map((index) => all[index]!),
      2,
    );
    expect(evaluations).toEqual([
      { id: 'a', firstCall: 0, cases: 1 },
      { id: 'b', firstCall: 2, cases: 2 },
    ]);
    expect(calls.map(({ id, position, repetition }) => [id, position, repetition])).toEqual([
      ['a1', 0, 1],
      ['b2', 2, 1],
      ['b3', 3, 2],
      ['b6', 4, 1],
    ]);
  });
});
