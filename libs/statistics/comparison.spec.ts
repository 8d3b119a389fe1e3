import fc from 'fast-check';
import { type Change, compareCases, comparePairs, type SharedCase, wilsonInterval } from './index.js';
import { sample } from './testing/sample.js';

const shared = (passed: number, counted: number, passedBefore: number, countedBefore = counted): SharedCase => ({
  current: { counted, passed },
  baseline: { counted: countedBefore, passed: passedBefore },
});
const decided = (change: Change, pValue: number) => ({ change, pValue, callsNeeded: null });
const undecided = (callsNeeded: number) => ({ change: 'undecided', pValue: null, callsNeeded });
const changes = (cases: readonly SharedCase[]) => compareCases(cases).cases.map(({ change }) => change);
const allChanges = (cases: readonly SharedCase[]): Change[] => [compareCases(cases).overall.change, ...changes(cases)];

describe('compareCases', () => {
  it('has the p-values of Fisher’s exact test in published examples', () => {
    // The lady tasting tea: 3 of 4 cups, p = 17/70; all 4 cups, p = 1/70.
    expect(compareCases([shared(1, 4, 3)]).cases).toEqual([decided('same', 0.242857)]);
    expect(compareCases([shared(0, 4, 4)]).cases).toEqual([decided('worse', 0.014286)]);
    // Criminal twins (Fisher 1935): 10 of 13 against 2 of 17, p = 0.0004652.
    expect(compareCases([shared(2, 17, 10, 13)]).cases).toEqual([decided('worse', 0.000465)]);
    expect(compareCases([shared(10, 13, 2, 17)]).cases).toEqual([decided('better', 0.000465)]);
  });

  it('decides a single case from three calls a side on', () => {
    expect(compareCases([shared(0, 3, 3)])).toEqual({
      overall: decided('worse', 0.05),
      cases: [decided('worse', 0.05)],
    });
    expect(compareCases([shared(0, 2, 2)])).toEqual({ overall: undecided(3), cases: [undecided(3)] });
    expect(compareCases([shared(0, 1, 50, 50)]).cases).toEqual([decided('worse', 0.019608)]);
    expect(compareCases([shared(0, 1, 18, 18)]).cases).toEqual([undecided(3)]);
    expect(compareCases([shared(0, 0, 50, 50)])).toEqual({ overall: undecided(3), cases: [undecided(3)] });
    expect(compareCases([])).toEqual({ overall: undecided(3), cases: [] });
  });

  it('says how many calls a side decide with this number of tests', () => {
    const neededWith = (cases: number) => compareCases(Array.from({ length: cases }, () => shared(0, 1, 1))).cases[0];
    // With several cases, all together are one more test.
    const needed = { 1: 3, 2: 4, 3: 5, 11: 5, 12: 6, 45: 6, 46: 7 };
    for (const [cases, calls] of Object.entries(needed)) expect(neededWith(Number(cases))).toEqual(undecided(calls));
  });

  it('names all against none with these calls, beside any other cases, and never with one call fewer', () => {
    const others = fc.array(
      fc.integer({ min: 1, max: 9 }).map((calls) => shared(calls, calls, calls)),
      { maxLength: 50 },
    );
    fc.assert(
      fc.property(others, fc.boolean(), (rest, isFall) => {
        const [probe] = compareCases([shared(0, 1, 1), ...rest]).cases;
        const needed = probe!.callsNeeded!;
        const changeOf = (calls: number) =>
          changes([isFall ? shared(0, calls, calls) : shared(calls, calls, 0), ...rest])[0];
        expect([changeOf(needed), changeOf(needed - 1)]).toEqual([isFall ? 'worse' : 'better', 'undecided']);
      }),
    );
  });

  it('corrects for the number of cases', () => {
    // 5 of 5 against 0 of 5 alone has p = 1/252; in a family of 13 tests it would have to be below 0.05 / 13.
    const unchanged = Array.from({ length: 10 }, () => shared(5, 5, 5));
    expect(changes([shared(0, 5, 5)])).toEqual(['worse']);
    expect(changes([shared(0, 5, 5), ...unchanged])[0]).toBe('worse');
    expect(changes([shared(0, 5, 5), ...unchanged, shared(5, 5, 5)])[0]).toBe('undecided');
    const more = Array.from({ length: 11 }, () => shared(6, 6, 6));
    expect(changes([shared(1, 6, 6), ...more])[0]).toBe('same');
  });

  it('finds what no case shows alone in all of them together, also with one call each', () => {
    expect(allChanges(Array.from({ length: 8 }, () => shared(0, 1, 1)))).toEqual([
      'worse',
      ...Array(8).fill('undecided'),
    ]);
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
        const { overall, cases: single } = compareCases(cases);
        fc.pre(usable.length > 1 && overall.pValue !== null && single.every(({ pValue }) => pValue === null));
        const observed = usable.reduce((sum, { now }) => sum + now, 0);
        const totals = enumerate(usable.map(({ drawn, left, now, before }) => [drawn, left, now + before] as const));
        const share = (matches: (total: number) => boolean) => totals.filter(matches).length / totals.length;
        const [worse, better] = [share((total) => total <= observed), share((total) => total >= observed)];
        // Adjusted for the tests of the cases, which have too few calls.
        expect(overall.pValue).toBeCloseTo(Math.min(1, Math.min(worse, better) * (usable.length + 1)), 5);
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

describe('comparePairs', () => {
  const named = (pairs: readonly (readonly SharedCase[])[]): Change[] =>
    comparePairs(pairs).flatMap(({ overall, cases }) => [overall.change, ...cases.map(({ change }) => change)]);

  it('compares each run with the first one, in the given order', () => {
    const equal = [shared(10, 10, 10), shared(10, 10, 10)];
    const [same, worse, better] = comparePairs([
      equal,
      [shared(0, 10, 10), shared(10, 10, 10)],
      [shared(10, 10, 10), shared(10, 10, 0)],
    ]);
    expect(same!.cases.map(({ change }) => change)).toEqual(['same', 'same']);
    expect([worse!.overall.change, ...worse!.cases.map(({ change }) => change)]).toEqual(['worse', 'worse', 'same']);
    expect([better!.overall.change, ...better!.cases.map(({ change }) => change)]).toEqual([
      'better',
      'same',
      'better',
    ]);
  });

  it('adjusts for the tests of all pairs and for both directions', () => {
    // 5 of 5 against 0 of 5 has p = 1/252.
    expect(comparePairs([[shared(0, 5, 5)]])[0]!.cases).toEqual([decided('worse', 0.007937)]);
    expect(comparePairs([[shared(0, 5, 5)], [shared(5, 5, 5)]])[0]!.cases).toEqual([decided('worse', 0.015873)]);
    const pairs = Array.from({ length: 7 }, () => [shared(0, 5, 5)]);
    expect(comparePairs(pairs)[0]).toEqual({ overall: undecided(6), cases: [undecided(6)] });
    // 63 tests: those of seven runs with eight cases, and of each run together.
    const runs = Array.from({ length: 7 }, () => Array.from({ length: 8 }, () => shared(0, 6, 6)));
    expect(comparePairs(runs)[6]!.cases[7]).toEqual(undecided(7));
  });

  it('does not count runs without a shared case, nor cases without counted calls', () => {
    expect(comparePairs([])).toEqual([]);
    const [none, one] = comparePairs([[], [shared(0, 0, 5), shared(0, 5, 5)]]);
    expect(none).toEqual({ overall: undecided(4), cases: [] });
    expect(one).toEqual({ overall: decided('worse', 0.007937), cases: [undecided(4), decided('worse', 0.007937)] });
  });

  const RUNS = 1_000;

  /** Eight runs and eight cases are 63 tests, three runs and one case two. */
  it.each([
    [8, 8, 7],
    [8, 8, 20],
    [3, 1, 20],
  ])(
    'names a difference in at most 5 %% of comparisons of %d equal runs with %d cases of %d calls',
    (runs, cases, calls) => {
      for (const rate of [0.5, 0.9]) {
        const simulation = new Simulation(runs * 1_000 + calls);
        const found = times(RUNS, () => named(simulation.besideFirst(runs, cases, calls, rate)));
        const share = found.filter((all) => all.includes('worse') || all.includes('better')).length;
        expect(wilsonInterval(RUNS, share).high).toBeLessThanOrEqual(0.05);
      }
    },
  );
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

/** Random runs of agents, by the chance of each case to pass. */
class Simulation {
  private readonly random: () => number;

  constructor(seed: number) {
    this.random = generator(seed);
  }

  pair(calls: number, before: readonly number[], now: readonly number[]): SharedCase[] {
    return before.map((rate, index) => shared(this.passed(calls, now[index]!), calls, this.passed(calls, rate)));
  }

  /** Runs whose calls all pass at the same rate, each beside the first one. */
  besideFirst(runs: number, cases: number, calls: number, rate: number): SharedCase[][] {
    const first = times(cases, () => this.passed(calls, rate));
    return times(runs - 1, () => first.map((before) => shared(this.passed(calls, rate), calls, before)));
  }

  private passed(calls: number, rate: number): number {
    let passed = 0;
    for (let call = 0; call < calls; call++) if (this.random() < rate) passed++;
    return passed;
  }
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

describe('two runs of an agent that did not change', () => {
  const PAIRS = 2_000;
  const bound = (named: number) => wilsonInterval(PAIRS, named).high;

  // 1, 9 and 21 tests.
  describe.each(sample([1, 8, 20], 1))('with %d cases', (cases) => {
    it.each([3, 10, 20])('of %d calls are called worse, or better, in at most 5 %%', (calls) => {
      for (const rate of [0.5, 0.9]) {
        const simulation = new Simulation(calls * 100 + cases);
        const rates = times(cases, () => rate);
        const found = times(PAIRS, () => allChanges(simulation.pair(calls, rates, rates)));
        const share = (...wanted: Change[]) =>
          bound(found.filter((changes) => changes.some((change) => wanted.includes(change))).length);
        expect(share('worse')).toBeLessThanOrEqual(0.05);
        expect(share('better')).toBeLessThanOrEqual(0.05);
        // Most agents pass far more often than every second call; then both directions together stay below 5 %, too.
        if (rate === 0.9) expect(share('worse', 'better')).toBeLessThanOrEqual(0.05);
      }
    });
  });
});

describe('a case that falls from 100 % to 50 %', () => {
  const noticed = (cases: number, calls: number): number => {
    const simulation = new Simulation(cases);
    const before = times(cases, () => 1);
    const pairs = times(2_000, () => changes(simulation.pair(calls, before, [0.5, ...before.slice(1)]))[0]);
    return pairs.filter((change) => change === 'worse').length / pairs.length;
  };

  it.each([
    [1, 10],
    [8, 17],
  ])('of %d is noticed four times out of five with %d calls a side, and less often with one fewer', (cases, calls) => {
    expect(noticed(cases, calls)).toBeGreaterThanOrEqual(0.8);
    expect(noticed(cases, calls - 1)).toBeLessThan(0.8);
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
