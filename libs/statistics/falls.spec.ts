import {
  type CaseLook,
  type CaseLooks,
  type Fallen,
  findableFalls,
  findFalls,
  learning,
  recoveredFrom,
} from './index.js';
import { normalQuantile, normalTail } from './normal.js';

const look = (passed: number, counted = 20, latencies: readonly number[] = []): CaseLook => ({
  counted,
  passed,
  latencies,
});
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const cases = (...all: (readonly (CaseLook | null)[])[]): CaseLooks[] =>
  all.map((looks, index) => ({ caseKey: `case-${index}`, looks }));
const found = (looks: readonly CaseLooks[], open: readonly Fallen[] = []) => findFalls(looks, 7, open);
const subjects = (looks: readonly CaseLooks[], open: readonly Fallen[] = []) =>
  found(looks, open).map(({ measure, caseKey }) => [measure, caseKey]);

/** One failed call every second night. */
const healthy = times(60, (night) => look(19 + (night % 2)));

describe('findFalls', () => {
  it('has a figure for each part of a fall', () => {
    const [fall] = found(cases([...healthy, look(14), look(13)]));
    expect(fall).toMatchObject({ measure: 'passed', caseKey: null, looks: 2, from: 60, dispersion: 1 });
    expect(fall!.cases).toEqual([
      {
        caseKey: 'case-0',
        window: { counted: 40, marked: 13 },
        reference: { counted: 1_200, marked: 30 },
        thresholdMs: null,
      },
    ]);
    // P(X >= 13) of a hypergeometric distribution with 1,240 calls, 43 of them failed, 40 drawn.
    expect(fall!.pValue / 7.4e-11).toBeCloseTo(1, 0);
  });

  it('finds no fall in one bad night, however bad it is, and one in the second', () => {
    expect(found(cases([...healthy, look(0)]))).toEqual([]);
    expect(found(cases([...healthy, look(0), look(20)]))).toEqual([]);
    expect(subjects(cases([...healthy, look(0), look(12)]))).toEqual([['passed', null]]);
  });

  it('learns until it has 20 looks and 100 counted calls to compare with', () => {
    const of = (nights: number, counted: number) =>
      cases([...times(nights, () => look(counted, counted)), look(0, counted), look(0, counted)]);
    expect(learning(of(19, 20))).toEqual({ looks: 1, calls: 0 });
    expect(learning(of(20, 4))).toEqual({ looks: 0, calls: 20 });
    expect([found(of(19, 20)), found(of(20, 4))]).toEqual([[], []]);
    expect(subjects(of(20, 5))).toEqual([['passed', null]]);
    expect(learning([])).toEqual({ looks: 20, calls: 100 });
    expect(findFalls([], 7, [])).toEqual([]);
  });

  it('does not count looks without counted calls, and finds nothing at one', () => {
    const empty = times(30, () => look(0, 0));
    expect(found(cases([...empty, ...healthy, look(12), look(12), look(0, 0)]))).toEqual([]);
    expect(subjects(cases([...healthy, look(12), ...empty, look(12)]))).toEqual([['passed', null]]);
    expect(learning(cases([...empty, look(20), look(20)]))).toEqual({ looks: 20, calls: 100 });
  });

  it('compares a case only with looks that have the same definition', () => {
    const changed = [...times(60, () => null), look(0), look(0), look(0)];
    expect(found(cases(changed))).toEqual([]);
    expect(found(cases(healthy.concat(look(20), look(20), look(20)), changed))).toEqual([]);
    const fallen = [...healthy, look(10), look(10), look(10)];
    expect(subjects(cases(fallen, changed))).toEqual([['passed', null]]);
  });

  it('expects as much variance as the nights before had', () => {
    // As many failures; but in the first history, nights are good or bad as a whole.
    const varied = times(60, (night) => look(night % 3 === 0 ? 14 : 20));
    const even = times(60, () => look(18));
    const bad = times(5, () => look(14));
    expect(subjects(cases([...even, ...bad]))).toEqual([['passed', null]]);
    expect(found(cases([...varied, ...bad]))).toEqual([]);
    expect(found(cases([...varied, ...times(5, () => look(8))]))[0]!.dispersion).toBeGreaterThan(2);
  });

  it('finds a case that fell alone, unless the alarm of all cases names it', () => {
    const steady = times(5, () => times(62, (night) => look(20 - ((night >> 1) % 2), 20)));
    const fallen = [...times(60, () => look(4, 4)), look(1, 4), look(1, 4)];
    expect(subjects(cases(...steady, fallen))).toEqual([['passed', 'case-5']]);
    const worse = [...times(60, () => look(20)), look(4), look(4)];
    const [all, ...others] = found(cases(...steady, worse));
    expect([all!.caseKey, all!.cases[0]!.caseKey, others]).toEqual([null, 'case-5', []]);
    expect(found(cases(...steady, worse), [all!])).toEqual([]);
    // A case with an alarm of its own is left out of all together.
    expect(found(cases(...steady, worse), [{ ...all!, caseKey: 'case-5' }])).toEqual([]);
  });

  it('finds slow calls by the latencies of each case, and none where all are equal', () => {
    const night = (ms: number) =>
      look(
        20,
        20,
        times(20, (call) => ms + 10 * call),
      );
    const [fall] = found(cases([...times(60, () => night(800)), night(1_000), night(1_000)]));
    expect(fall).toMatchObject({ measure: 'slow', caseKey: null, looks: 2 });
    expect(fall!.cases[0]).toMatchObject({ window: { counted: 40, marked: 40 }, reference: { counted: 1_200 } });
    expect(fall!.cases[0]!.thresholdMs).toBeGreaterThan(900);
    const equal = times(62, () =>
      look(
        20,
        20,
        times(20, () => 800),
      ),
    );
    expect(found(cases(equal))).toEqual([]);
    // A further case that is slower by nature slows nothing down.
    const slow = [...times(60, () => null), ...times(2, () => night(5_000))];
    expect(found(cases([...times(60, () => night(800)), night(800), night(800)], slow))).toEqual([]);
  });
});

describe('recoveredFrom', () => {
  const [fall] = found(cases([...healthy, look(14), look(13)]));
  const after = (...nights: CaseLook[]) => recoveredFrom(fall!, cases(nights));

  it('needs five looks after the alarm that are better than the fall and as good as before', () => {
    const good = times(5, () => look(20));
    expect(after(...good.slice(1))).toBeUndefined();
    expect(after(...good)).toBe(0);
    expect(after(look(12), look(0, 0), ...good)).toBe(2);
    expect(after(...times(17, () => look(17)))).toBeUndefined();
    expect(after(...times(17, () => look(13)))).toBeUndefined();
  });

  it('does not come from cases that the fall does not have', () => {
    expect(recoveredFrom(fall!, [{ caseKey: 'other', looks: times(17, () => look(20)) }])).toBeUndefined();
    expect(recoveredFrom(fall!, [])).toBeUndefined();
  });

  it('compares slow calls with the threshold of the alarm', () => {
    const night = (ms: number) =>
      look(
        20,
        20,
        times(20, (call) => ms + 10 * call),
      );
    const [slow] = found(cases([...times(60, () => night(800)), night(1_000), night(1_000)]));
    const recovered = (ms: number) => recoveredFrom(slow!, cases(times(5, () => night(ms))));
    expect([recovered(780), recovered(1_000)]).toEqual([0, undefined]);
  });
});

describe('findableFalls', () => {
  it('states nothing while the schedule is learning', () => {
    expect(findableFalls(cases(healthy.slice(0, 21)), 7)).toEqual([]);
    expect(findableFalls([], 7)).toEqual([]);
    expect(findableFalls(cases(times(60, () => look(0))), 7)).toEqual([]);
  });
});

it('has the tail of the normal distribution and its quantiles', () => {
  expect(normalTail(0)).toBeCloseTo(0.5, 7);
  expect(normalTail(1.959963984540054)).toBeCloseTo(0.025, 8);
  expect(normalTail(-1.959963984540054)).toBeCloseTo(0.975, 7);
  expect(normalTail(6) / 9.865876450376981e-10).toBeCloseTo(1, 6);
  for (const chance of [1e-20, 1e-4, 0.3, 0.9]) expect(normalTail(normalQuantile(chance)) / chance).toBeCloseTo(1, 6);
});
