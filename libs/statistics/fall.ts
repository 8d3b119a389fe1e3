import { Hypergeometric } from './hypergeometric.js';
import { percentile } from './latency.js';
import { normalQuantile, normalTail } from './normal.js';

/** Newest looks that are compared with those before them. */
export const WINDOWS = [2, 3, 5, 9, 17] as const;
export const MIN_WINDOW = WINDOWS[0];
/** Looks that a window is compared with, at least and at most. */
export const MIN_REFERENCE_LOOKS = 20;
const MAX_REFERENCE_LOOKS = 200;
/** Counted calls of a schedule that a window is compared with, at least. */
export const MIN_REFERENCE_CALLS = 100;
/** As many of the newest looks are used. */
export const LOOKS_USED = MAX_REFERENCE_LOOKS + WINDOWS.at(-1)!;
/** A fall must not be the work of one look: without its worst one, the window has at most this p-value. */
const WITHOUT_WORST = 0.05;
/** Calls slower than this percentile of the latencies of their case, in window and reference together, are slow. */
const SLOW_PERCENTILE = 90;

/** What is watched: the share of calls that passed, or the share of slow ones. */
export const MEASURES = ['passed', 'slow'] as const;
export type Measure = (typeof MEASURES)[number];

/** The counted calls of a case at one look. */
export interface CaseLook {
  readonly counted: number;
  readonly passed: number;
  /** Median heard latency of each counted call that has one, in milliseconds. */
  readonly latencies: readonly number[];
}

/** A case at each look, oldest first; null where it has no calls that can be compared with its newest ones. */
export interface CaseLooks {
  readonly caseKey: string;
  readonly looks: readonly (CaseLook | null)[];
}

/** Calls, and how many of them failed or were slow. */
export interface MarkedCounts {
  readonly counted: number;
  readonly marked: number;
}

/** A case of a fall: the newest looks beside those before them. */
export interface FallenCase {
  readonly caseKey: string;
  readonly window: MarkedCounts;
  readonly reference: MarkedCounts;
  /** Calls above it are slow; null for falls of the share passed. */
  readonly thresholdMs: number | null;
}

export interface Fall {
  /** Newest looks that are worse than those before them. */
  readonly looks: number;
  /** Position of the first of them, in the given looks. */
  readonly from: number;
  /** Corrected for the dispersion of the reference. */
  readonly pValue: number;
  /** Variance between the looks of the reference, relative to independent calls; at least 1. */
  readonly dispersion: number;
  /** Most additional failed or slow calls first. */
  readonly cases: readonly FallenCase[];
}

/** The looks that are compared: the reference up to `split`, the window from there to `end`. */
interface Range {
  readonly from: number;
  readonly split: number;
  readonly end: number;
}

/** Calls of a case in the first looks of those that are used, by their number: a difference is the sum of the looks between. */
interface Column {
  readonly caseKey: string;
  readonly counted: Float64Array;
  readonly marked: Float64Array;
  readonly thresholdMs: number | null;
}

/**
 * Whether the newest looks of these cases are worse than those before them, in any of the windows. If calls are independent
 * and nothing changed, the answer is a fall at a share `level` of looks, at most. The test is exact and conditional on the
 * marked calls of each case.
 * @param minCalls counted calls that a reference needs
 * @returns the most significant fall; undefined if there is none, or too little to compare with
 */
export function findFall(
  cases: readonly CaseLooks[],
  measure: Measure,
  { level, minCalls }: { readonly level: number; readonly minCalls: number },
): Fall | undefined {
  const used = usedLooks(cases, measure);
  const end = used.length;
  const passes = measure === 'passed' ? cases.map((one) => passesOf(one, used)) : undefined;
  const falls = WINDOWS.flatMap((looks) => {
    const split = end - looks;
    if (split < MIN_REFERENCE_LOOKS) return [];
    const range = { from: Math.max(0, split - MAX_REFERENCE_LOOKS), split, end };
    const columns = (passes ?? cases.map((one) => slowCallsOf(one, used, range.from))).filter((column) =>
      sidesOf(column, range).every(({ counted }) => counted > 0),
    );
    const tested = testWindow(columns, range, { level: level / WINDOWS.length, minCalls });
    return tested ? [{ ...tested, looks, from: used[split]!, cases: fallenCases(columns, range) }] : [];
  });
  return falls.sort((a, b) => a.pValue - b.pValue)[0];
}

/** The newest looks with calls that can be compared; none unless the last look is one of them. */
export function usedLooks(cases: readonly CaseLooks[], measure: Measure): number[] {
  const count = cases[0]?.looks.length ?? 0;
  const has = (position: number) => cases.some(({ looks }) => sizeOf(looks[position], measure) > 0);
  const positions: number[] = [];
  if (!has(count - 1)) return positions;
  for (let at = count - 1; at >= 0 && positions.length < LOOKS_USED; at--) if (has(at)) positions.push(at);
  return positions.reverse();
}

const sizeOf = (look: CaseLook | null | undefined, measure: Measure): number =>
  !look ? 0 : measure === 'passed' ? look.counted : look.latencies.length;

export const passesOf = (one: CaseLooks, used: readonly number[]): Column => columnOf(one, used, null);

function slowCallsOf(one: CaseLooks, used: readonly number[], from: number): Column {
  const latencies: number[] = [];
  for (let at = from; at < used.length; at++) {
    for (const latency of one.looks[used[at]!]?.latencies ?? []) latencies.push(latency);
  }
  return columnOf(one, used, percentile(Float64Array.from(latencies).sort(), SLOW_PERCENTILE) ?? Infinity);
}

function columnOf({ caseKey, looks }: CaseLooks, used: readonly number[], thresholdMs: number | null): Column {
  const [counted, marked] = [new Float64Array(used.length + 1), new Float64Array(used.length + 1)];
  for (let at = 0; at < used.length; at++) {
    const look = countsOf(looks[used[at]!], thresholdMs);
    counted[at + 1] = counted[at]! + look.counted;
    marked[at + 1] = marked[at]! + look.marked;
  }
  return { caseKey, counted, marked, thresholdMs };
}

/** Counted calls of a look and, of them, the failed ones or, with a threshold, those with a latency and the slow ones. */
export function countsOf(look: CaseLook | null | undefined, thresholdMs: number | null): MarkedCounts {
  if (!look) return { counted: 0, marked: 0 };
  if (thresholdMs === null) return { counted: look.counted, marked: look.counted - look.passed };
  let marked = 0;
  for (const latency of look.latencies) if (latency > thresholdMs) marked++;
  return { counted: look.latencies.length, marked };
}

function testWindow(
  columns: readonly Column[],
  range: Range,
  { level, minCalls }: { readonly level: number; readonly minCalls: number },
): Pick<Fall, 'pValue' | 'dispersion'> | undefined {
  const sides = columns.map((column) => sidesOf(column, range));
  if (sides.reduce((sum, [reference]) => sum + reference.counted, 0) < minCalls) return undefined;
  const p = pOfMore(sides);
  if (p > level) return undefined;
  const dispersion = dispersionOf(columns, range);
  const pValue = normalTail(normalQuantile(p) / Math.sqrt(dispersion));
  if (pValue > level || pOfMore(withoutWorst(columns, range)) > WITHOUT_WORST) return undefined;
  return { pValue, dispersion };
}

type Sides = readonly [reference: MarkedCounts, window: MarkedCounts];

const sidesOf = (column: Column, { from, split, end }: Range): Sides => [
  between(column, from, split),
  between(column, split, end),
];

export const between = ({ counted, marked }: Column, from: number, to: number): MarkedCounts => ({
  counted: counted[to]! - counted[from]!,
  marked: marked[to]! - marked[from]!,
});

/** The exact chance of this many marked calls or more in the windows; 1 if there are no more than expected. */
export function pOfMore(sides: readonly Sides[]): number {
  let [observed, expected] = [0, 0];
  for (const [reference, window] of sides) {
    const counted = reference.counted + window.counted;
    observed += window.marked;
    if (counted > 0) expected += (window.counted * (reference.marked + window.marked)) / counted;
  }
  if (observed <= expected) return 1;
  const parts = sides.map(([reference, window]) =>
    Hypergeometric.of(window.counted, reference.counted, reference.marked + window.marked),
  );
  return Hypergeometric.sum(parts).atLeast(observed);
}

/** Dispersion of the reference with a margin for its own error; 1 if nothing varies. */
export function dispersionOf(columns: readonly Column[], range: Range): number {
  let [squares, count] = [0, 0];
  for (let at = range.from; at < range.split; at++) {
    const { excess, variance } = deviation(columns, range, at);
    if (variance === 0) continue;
    squares += excess ** 2 / variance;
    count++;
  }
  if (count < 2) return 1;
  const freedom = count - 1;
  return Math.max(1, (squares / freedom) * (1 + Math.sqrt(2 / freedom)));
}

/** Marked calls of a look above those that the shares of the reference let expect, and their variance. */
function deviation(columns: readonly Column[], { from, split }: Range, at: number) {
  let [excess, variance] = [0, 0];
  for (const column of columns) {
    const reference = between(column, from, split);
    const look = between(column, at, at + 1);
    const share = reference.marked / reference.counted;
    excess += look.marked - look.counted * share;
    variance += look.counted * share * (1 - share);
  }
  return { excess, variance };
}

/** Both sides of each case, without the look of the window that has most marked calls above the expected ones. */
function withoutWorst(columns: readonly Column[], range: Range): Sides[] {
  const { split, end } = range;
  const excess = Array.from({ length: end - split }, (_, index) => deviation(columns, range, split + index).excess);
  const worst = split + excess.indexOf(Math.max(...excess));
  return columns.map((column) => {
    const [reference, window] = sidesOf(column, range);
    const look = between(column, worst, worst + 1);
    return [reference, { counted: window.counted - look.counted, marked: window.marked - look.marked }];
  });
}

function fallenCases(columns: readonly Column[], range: Range): FallenCase[] {
  const excess = ({ window, reference }: FallenCase) =>
    window.marked - (window.counted * reference.marked) / reference.counted;
  return columns
    .map((column) => {
      const [reference, window] = sidesOf(column, range);
      return { caseKey: column.caseKey, window, reference, thresholdMs: column.thresholdMs };
    })
    .sort((a, b) => excess(b) - excess(a));
}
