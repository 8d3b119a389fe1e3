import fc from 'fast-check';
import { type Change, compareCases, type SharedCase } from './index.js';

const shared = (passed: number, counted: number, passedBefore: number, countedBefore = counted): SharedCase => ({
  current: { counted, passed },
  baseline: { counted: countedBefore, passed: passedBefore },
});
const changes = (cases: readonly SharedCase[]) => compareCases(cases).cases.map(({ change }) => change);
const allChanges = (cases: readonly SharedCase[]): Change[] => [compareCases(cases).overall.change, ...changes(cases)];

describe('compareCases', () => {
  it('has the p-values of Fisher’s exact test in published examples', () => {
    // The lady tasting tea: 3 of 4 cups, p = 17/70; all 4 cups, p = 1/70.
    expect(compareCases([shared(1, 4, 3)]).cases).toEqual([{ change: 'same', pValue: 0.242857 }]);
    expect(compareCases([shared(0, 4, 4)]).cases).toEqual([{ change: 'worse', pValue: 0.014286 }]);
    // Criminal twins (Fisher 1935): 10 of 13 against 2 of 17, p = 0.0004652.
    expect(compareCases([shared(2, 17, 10, 13)]).cases).toEqual([{ change: 'worse', pValue: 0.000465 }]);
    expect(compareCases([shared(10, 13, 2, 17)]).cases).toEqual([{ change: 'better', pValue: 0.000465 }]);
  });

  it('names a difference from three calls a side on, never below', () => {
    expect(compareCases([shared(0, 3, 3)])).toEqual({
      overall: { change: 'worse', pValue: 0.05 },
      cases: [{ change: 'worse', pValue: 0.05 }],
    });
    expect(compareCases([shared(0, 2, 50, 50)]).cases).toEqual([{ change: 'same', pValue: null }]);
    expect(compareCases([shared(0, 50, 2, 2)]).cases).toEqual([{ change: 'same', pValue: null }]);
    expect(compareCases([shared(0, 0, 50, 50)])).toEqual({
      overall: { change: 'same', pValue: null },
      cases: [{ change: 'same', pValue: null }],
    });
  });

  it('corrects for the number of cases', () => {
    // 5 of 5 against 0 of 5 alone has p = 1/252; in a family of 13 tests it would have to be below 0.05 / 13.
    const unchanged = Array.from({ length: 10 }, () => shared(5, 5, 5));
    expect(changes([shared(0, 5, 5)])).toEqual(['worse']);
    expect(changes([shared(0, 5, 5), ...unchanged])[0]).toBe('worse');
    expect(changes([shared(0, 5, 5), ...unchanged, shared(5, 5, 5)])[0]).toBe('same');
  });

  it('finds what no case shows alone in all of them together, also with one call each', () => {
    expect(allChanges(Array.from({ length: 8 }, () => shared(0, 1, 1)))).toEqual(['worse', ...Array(8).fill('same')]);
    expect(allChanges(Array.from({ length: 8 }, () => shared(12, 20, 17)))).toEqual([
      'worse',
      ...Array(8).fill('same'),
    ]);
  });

  it('is not misled by cases that were called more often in one of the runs', () => {
    // Both cases are unchanged, but the difficult one was called more often this time (Simpson's paradox).
    expect(allChanges([shared(5, 50, 1, 10), shared(10, 10, 50, 50)])).toEqual(['same', 'same', 'same']);
  });

  it('computes the test of all cases together like an enumeration of all assignments', () => {
    const side = fc
      .record({ drawn: fc.nat(4), left: fc.nat(4) })
      .chain(({ drawn, left }) =>
        fc.record({ drawn: fc.constant(drawn), left: fc.constant(left), now: fc.nat(drawn), before: fc.nat(left) }),
      );
    fc.assert(
      fc.property(fc.array(side, { minLength: 2, maxLength: 3 }), (sides) => {
        const cases = sides.map(({ drawn, left, now, before }) => shared(now, drawn, before, left));
        const usable = sides.filter(({ drawn, left }) => drawn > 0 && left > 0);
        fc.pre(
          usable.length > 1 && cases.every(({ current, baseline }) => Math.min(current.counted, baseline.counted) < 3),
        );
        const observed = usable.reduce((sum, { now }) => sum + now, 0);
        const totals = enumerate(usable.map(({ drawn, left, now, before }) => [drawn, left, now + before] as const));
        const share = (matches: (total: number) => boolean) => totals.filter(matches).length / totals.length;
        const [worse, better] = [share((total) => total <= observed), share((total) => total >= observed)];
        expect(compareCases(cases).overall.pValue).toBeCloseTo(Math.min(worse, better), 5);
      }),
    );
  });

  it('compares 10,000 calls of 5,000 cases, and of 200, in practicable time', () => {
    for (const [cases, repeat] of [
      [5_000, 2],
      [200, 50],
    ] as const) {
      const half = Array.from({ length: cases }, () => shared(repeat / 2, repeat, repeat / 2));
      const start = performance.now();
      expect(compareCases(half).overall.change).toBe('same');
      expect(performance.now() - start).toBeLessThan(10_000);
    }
  });
});

/** Number of passed calls on the current side, for every way to assign the passed calls to the sides. */
function enumerate(cases: readonly (readonly [drawn: number, left: number, marked: number])[]): number[] {
  const [first, ...rest] = cases;
  if (!first) return [0];
  const [drawn, left, marked] = first;
  const own: number[] = [];
  for (let bits = 0; bits < 2 ** (drawn + left); bits++) {
    const ones = [...bits.toString(2).padStart(drawn + left, '0')].map(Number);
    const sum = (list: readonly number[]) => list.reduce((total, one) => total + one, 0);
    if (sum(ones) === marked) own.push(sum(ones.slice(0, drawn)));
  }
  return enumerate(rest).flatMap((others) => own.map((value) => value + others));
}

describe('two runs of six cases with 20 calls each', () => {
  const CASES = 6;
  const REPEAT = 20;

  /** Compares runs of agents that fail with these chances. @returns how many of 100 comparisons name a difference */
  function named(failureRate: number, failureRateBefore: number, seed: number): number {
    const random = generator(seed);
    const passed = (rate: number) => Array.from({ length: REPEAT }, () => random() >= rate).filter(Boolean).length;
    const comparisons = Array.from({ length: 100 }, () =>
      allChanges(Array.from({ length: CASES }, () => shared(passed(failureRate), REPEAT, passed(failureRateBefore)))),
    );
    return comparisons.filter((found) => found.some((change) => change !== 'same')).length;
  }

  it.each([1, 2, 3, 4, 5])('differ in at most 5 of 100 comparisons of an agent that fails 10 %% (seed %d)', (seed) => {
    expect(named(0.1, 0.1, seed)).toBeLessThanOrEqual(5);
  });

  it.each([1, 2, 3, 4, 5])('differ in at least 90 of 100 if the agent fails 30 %% more (seed %d)', (seed) => {
    expect(named(0.4, 0.1, seed)).toBeGreaterThanOrEqual(90);
  });
});

/** Mulberry32. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
