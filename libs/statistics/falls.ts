import {
  type CaseLooks,
  countsOf,
  type Fall,
  type FallenCase,
  findFall,
  type MarkedCounts,
  type Measure,
  MIN_REFERENCE_CALLS,
  MIN_REFERENCE_LOOKS,
  MIN_WINDOW,
  pOfMore,
} from './fall.js';
import { Hypergeometric } from './hypergeometric.js';

/** Weeks in which a schedule has one false alarm, at most. */
const WEEKS_PER_FALSE_ALARM = 100;
/** More looks a week are not taken: one an hour. */
const MAX_LOOKS_A_WEEK = 168;
/** Cases that an alarm names. */
export const NAMED_CASES = 3;
/** Newest looks that show a recovery. */
const RECOVERY_WINDOWS = [5, 9, 17] as const;
const BETTER_THAN_FALL = 0.01;
const NOT_WORSE_THAN_REFERENCE = 0.3;

/** What fell: the share of a measure, in one case or (null) in all of a schedule together. */
export interface Fallen {
  readonly measure: Measure;
  readonly caseKey: string | null;
  /** Most additional failed or slow calls first. */
  readonly cases: readonly FallenCase[];
}

/** What a schedule still lacks before an alarm is possible. */
export interface Learning {
  readonly looks: number;
  readonly calls: number;
}

/** Looks and counted calls that are missing; undefined if the newest looks can be compared. */
export function learning(cases: readonly CaseLooks[]): Learning | undefined {
  const sizes: number[] = [];
  for (let at = 0; at < (cases[0]?.looks.length ?? 0); at++) {
    let size = 0;
    for (const one of cases) size += one.looks[at]?.counted ?? 0;
    if (size > 0) sizes.push(size);
  }
  const reference = sizes.slice(0, -MIN_WINDOW);
  const looks = Math.max(0, MIN_REFERENCE_LOOKS - reference.length);
  const calls = Math.max(0, MIN_REFERENCE_CALLS - reference.reduce((sum, size) => sum + size, 0));
  return looks === 0 && calls === 0 ? undefined : { looks, calls };
}

/** Chance of a false alarm at a look: of the share passed, of slow calls, of all cases one by one. */
export function alarmLevels(looksAWeek: number) {
  const all = 1 / (WEEKS_PER_FALSE_ALARM * Math.min(MAX_LOOKS_A_WEEK, Math.max(1, looksAWeek)));
  return { passed: all / 2, slow: all / 4, cases: all / 4 };
}

/**
 * What fell at the newest look of a schedule. At most one alarm in 100 weeks is false, whatever the number of cases.
 * @param open falls of earlier looks that are not over: their subjects, and the cases that they name, are not tested
 */
export function findFalls(cases: readonly CaseLooks[], looksAWeek: number, open: readonly Fallen[]): (Fall & Fallen)[] {
  if (learning(cases)) return [];
  const levels = alarmLevels(looksAWeek);
  const isOpen = (measure: Measure, caseKey: string | null) =>
    open.some((one) => one.measure === measure && one.caseKey === caseKey);
  const together = (['passed', 'slow'] as const).flatMap((measure) => {
    if (isOpen(measure, null)) return [];
    const tested = cases.filter(({ caseKey }) => !isOpen(measure, caseKey));
    const fall = findFall(tested, measure, { level: levels[measure], minCalls: MIN_REFERENCE_CALLS });
    return fall ? [{ ...fall, measure, caseKey: null }] : [];
  });
  const named = [...open, ...together]
    .filter(({ measure }) => measure === 'passed')
    .flatMap((fall) => fall.cases.slice(0, NAMED_CASES).map(({ caseKey }) => caseKey));
  // With a single case, all together are the same test.
  const alone = cases.length === 1 ? [] : cases.filter(({ caseKey }) => !named.includes(caseKey));
  const ofCases = alone.flatMap((one) => {
    const fall = findFall([one], 'passed', { level: levels.cases / cases.length, minCalls: 1 });
    return fall ? [{ ...fall, measure: 'passed' as const, caseKey: one.caseKey }] : [];
  });
  return [...together, ...ofCases];
}

/**
 * Whether a fall is over: the newest looks are better than those of the fall, and not worse than those before it.
 * @param after the looks since the fall was found
 * @returns position of the first of these newest looks; undefined if it is not over
 */
export function recoveredFrom({ cases }: Pick<Fallen, 'cases'>, after: readonly CaseLooks[]): number | undefined {
  const columns = cases.map(({ caseKey, window, reference, thresholdMs }) => {
    const looks = after.find((one) => one.caseKey === caseKey)?.looks ?? [];
    return { window, reference, looks: looks.map((look) => countsOf(look, thresholdMs)) };
  });
  const count = Math.max(0, ...columns.map(({ looks }) => looks.length));
  const used = Array.from({ length: count }, (_, at) => at).filter((at) =>
    columns.some(({ looks }) => (looks[at]?.counted ?? 0) > 0),
  );
  const length = RECOVERY_WINDOWS.find((looks) => {
    if (used.length < looks) return false;
    const newest = used.slice(-looks);
    const sides = columns.map(({ window, reference, looks: all }) => {
      const now = newest.map((at) => all[at] ?? countsOf(null, null)).reduce(plus);
      return { window, reference, now };
    });
    const worse = pOfMore(sides.map(({ reference, now }) => [reference, now]));
    return worse > NOT_WORSE_THAN_REFERENCE && pOfFewer(sides) <= BETTER_THAN_FALL;
  });
  return length === undefined ? undefined : used.at(-length);
}

const plus = (a: MarkedCounts, b: MarkedCounts): MarkedCounts => ({
  counted: a.counted + b.counted,
  marked: a.marked + b.marked,
});

/** The exact chance of as few marked calls now, or fewer, if nothing changed since the fall. */
function pOfFewer(sides: readonly { readonly window: MarkedCounts; readonly now: MarkedCounts }[]): number {
  const parts = sides.map(({ window, now }) =>
    Hypergeometric.of(now.counted, window.counted, now.marked + window.marked),
  );
  return Hypergeometric.sum(parts).atMost(sides.reduce((total, { now }) => total + now.marked, 0));
}
