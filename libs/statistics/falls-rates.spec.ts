import { findableFalls } from './index.js';
import { sample, shareOf } from './testing/sample.js';
import { alarmsOf, CONDITIONS, generator, MAX_FALSE_ALARMS, meanBound } from './testing/schedule-history.js';

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

describe('a schedule whose agent does not change', () => {
  it.each(sample(CONDITIONS, 2))(
    'has at most one false alarm in 100 weeks: pass rate $rate, $cases × $calls calls, correlation $correlation',
    ({ rate, correlation, ...plan }) => {
      const histories = 20;
      const counts = times(histories, (seed) => {
        const night = () => ({ rate, correlation });
        return alarmsOf(
          { ...plan, nights: 700, night, hasLatencies: plan.cases * plan.calls === 5 && seed % 10 === 0 },
          generator(seed),
        ).length;
      });
      expect(meanBound(counts)).toBeLessThanOrEqual(correlation > 0 ? 1.2 : MAX_FALSE_ALARMS);
    },
  );

  it('has no alarm from a changed check, judge or service', () => {
    const alarms = times(shareOf(200), (seed) => {
      // The new tester lets fewer calls pass; what it says is not compared with what the earlier one said.
      const night = (at: number) => ({ rate: at < 40 ? 0.95 : 0.6 });
      return alarmsOf({ nights: 60, cases: 2, calls: 10, night, changedAt: 40 }, generator(seed)).filter(
        (at) => at >= 40,
      );
    });
    expect(alarms.flat()).toEqual([]);
  });
});

const HEALTHY = 60;

describe('an agent that falls after 60 healthy nights of 20 calls', () => {
  /** Nights until the alarm, of several falls, in order. */
  const nights = (from: number, to: number, count: number): number[] =>
    times(count, (seed) => {
      const night = (at: number) => ({ rate: at < HEALTHY ? from : to });
      const alarms = alarmsOf({ nights: HEALTHY + 30, cases: 1, calls: 20, night }, generator(seed));
      return 1 + (alarms.find((at) => at >= HEALTHY) ?? Infinity) - HEALTHY;
    }).sort((a, b) => a - b);

  it.each([
    [0.95, 0.8, 10, 4, 7],
    [1, 0.8, 3, 2, 2],
    [1, 0.9, 4, 2, 3],
    [0.8, 0.6, 10, 5, 9],
  ])(
    'from %d to %d is found within %d nights in nine of ten cases, most often within %d',
    (from, to, within, median) => {
      const found = nights(from, to, 200);
      expect(found.filter((night) => night <= within).length).toBeGreaterThanOrEqual(180);
      expect(found[99]).toBeLessThanOrEqual(median);
    },
  );

  it('and recovers is found again when it falls a second time', () => {
    const rateAt = (at: number) => ((at >= 60 && at < 90) || at >= 120 ? 0.7 : 0.98);
    const alarms = times(50, (seed) =>
      alarmsOf({ nights: 130, cases: 1, calls: 20, night: (at) => ({ rate: rateAt(at) }) }, generator(seed)),
    );
    const soon = alarms.filter((all) => all.some((at) => at >= 120 && at < 126));
    expect(soon.length).toBeGreaterThanOrEqual(48);
    // Its recovery is not taken for a fall, and its bad nights are not what later ones are compared with.
    expect(alarms.flatMap((all) => all.filter((at) => at > 70 && at < 120)).length).toBeLessThanOrEqual(1);
  });
});

describe('findableFalls', () => {
  it('states a number of looks within which nine of ten falls are found', () => {
    for (const [rate, calls] of [
      [0.95, 20],
      [1, 20],
      [0.8, 50],
      [1, 5],
    ] as const) {
      const random = generator(7);
      const nights = times(HEALTHY, () => {
        const passed = times(calls, random).filter((one) => one < rate).length;
        return { counted: calls, passed, latencies: [] };
      });
      const stated = findableFalls([{ caseKey: 'case-0', looks: nights }], 7).filter(({ looks }) => looks !== null);
      expect(stated.length).toBeGreaterThan(0);
      for (const { passRate, looks } of stated) {
        const falls = times(100, (seed) => {
          const night = (at: number) => ({ rate: at < HEALTHY ? rate : passRate });
          return alarmsOf({ nights: HEALTHY + looks!, cases: 1, calls, night }, generator(seed)).some(
            (at) => at >= HEALTHY,
          );
        });
        // 84 of 100 or fewer have a chance below 5 % if nine of ten are found.
        expect(falls.filter(Boolean).length).toBeGreaterThanOrEqual(85);
      }
    }
  });
});
