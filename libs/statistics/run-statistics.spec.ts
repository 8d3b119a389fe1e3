import fc from 'fast-check';
import {
  type CountedCall,
  caseStatistics,
  latencyMeasures,
  passAtK,
  passHatK,
  percentile,
  runScore,
  wilsonInterval,
} from './index.js';

const calls = (caseKey: string, outcomes: string): CountedCall[] =>
  [...outcomes].map((letter) => ({
    caseKey,
    outcome: ({ p: 'passed', f: 'failed', i: 'invalid', e: 'error' } as const)[letter as 'p' | 'f' | 'i' | 'e'],
    score: letter === 'p' ? 100 : letter === 'f' ? 33.3 : null,
  }));

describe('percentile', () => {
  it('uses the nearest rank: the smallest value that the given percentage does not exceed', () => {
    const values = [10, 20, 30, 40];
    expect([1, 25, 26, 50, 51, 95, 100].map((p) => percentile(values, p))).toEqual([10, 10, 20, 20, 30, 40, 40]);
    expect(percentile([], 50)).toBeNull();
    fc.assert(
      fc.property(
        fc.array(fc.nat(1_000), { minLength: 1 }),
        fc.integer({ min: 1, max: 100 }),
        fc.nat(1_000),
        (list, p, limit) => {
          const sorted = [...list].sort((a, b) => a - b);
          const within = sorted.filter((value) => value <= limit).length;
          return percentile(sorted, p)! <= limit === 100 * within >= p * sorted.length;
        },
      ),
    );
  });

  it('is null if there are too few answers for a high percentile', () => {
    expect(latencyMeasures([3, 1, 2, 4])).toEqual({ count: 4, p50: 2, p90: null, p95: null, p99: null, worst: 4 });
    expect(latencyMeasures([3, 1, 2, 4, 5])).toEqual({ count: 5, p50: 3, p90: 5, p95: 5, p99: 5, worst: 5 });
    expect(latencyMeasures([])).toEqual({ count: 0, p50: null, p90: null, p95: null, p99: null, worst: null });
  });
});

describe('statistics of a run', () => {
  it('averages the scores of counted calls only', () => {
    expect(runScore(calls('a', 'pffie'))).toBe(55.5);
    expect(runScore(calls('a', 'ie'))).toBeNull();
  });

  it('distinguishes stable from flaky evaluations by their counted calls', () => {
    const all = [...calls('a', 'ppi'), ...calls('b', 'pf'), ...calls('c', 'ff'), ...calls('d', 'e')];
    expect(
      caseStatistics(all).map(({ stability, counted, passed, passRate }) => [stability, counted, passed, passRate]),
    ).toEqual([
      ['stable pass', 2, 2, 1],
      ['flaky', 2, 1, 0.5],
      ['stable fail', 2, 0, 0],
      [null, 0, 0, null],
    ]);
  });

  it('has the Wilson interval of published tables', () => {
    const rounded = (n: number, c: number) =>
      Object.values(wilsonInterval(n, c)).map((x) => Number((x as number).toFixed(4)));
    expect(rounded(10, 8)).toEqual([0.4902, 0.9433]);
    expect(rounded(10, 10)).toEqual([0.7225, 1]);
    expect(rounded(10, 0)).toEqual([0, 0.2775]);
    expect(rounded(100, 50)).toEqual([0.4038, 0.5962]);
  });

  it('has a Wilson interval that ends at exactly 1 if every call passed, and begins at exactly 0 if none did', () => {
    for (let n = 1; n <= 500; n++) {
      expect([n, wilsonInterval(n, n).high, wilsonInterval(n, 0).low]).toEqual([n, 1, 0]);
    }
  });

  it('computes pass@k and pass^k as the share of all choices of k calls', () => {
    const choices = (outcomes: boolean[], k: number): boolean[][] =>
      k === 0
        ? [[]]
        : outcomes.flatMap((first, index) => choices(outcomes.slice(index + 1), k - 1).map((rest) => [first, ...rest]));
    for (let n = 1; n <= 6; n++)
      for (let c = 0; c <= n; c++)
        for (let k = 1; k <= n; k++) {
          const all = choices(
            Array.from({ length: n }, (_, index) => index < c),
            k,
          );
          expect(passAtK(n, c, k)).toBeCloseTo(all.filter((choice) => choice.includes(true)).length / all.length, 5);
          expect(passHatK(n, c, k)).toBeCloseTo(all.filter((choice) => !choice.includes(false)).length / all.length, 5);
        }
    expect(passAtK(1_000, 1, 500)).toBeCloseTo(0.5, 5);
  });
});
