import { isCounted, type Outcome } from './outcome.js';

/** The fields of a call that the statistics of a run use. */
export interface CountedCall {
  /** Identity of its case: an evaluation, or one of its rows of variables. */
  readonly caseKey: string;
  readonly outcome: Outcome;
  readonly score: number | null;
}

/** Mean score over counted calls, 0 to 100 with one decimal at most; null when none is counted. */
export function runScore(calls: readonly Pick<CountedCall, 'outcome' | 'score'>[]): number | null {
  const scores = calls.flatMap(({ outcome, score }) => (isCounted(outcome) && score !== null ? [score] : []));
  if (scores.length === 0) return null;
  return Math.round((scores.reduce((sum, score) => sum + score, 0) / scores.length) * 10) / 10;
}

export type Stability = 'stable pass' | 'flaky' | 'stable fail';

export interface CaseStatistics {
  readonly caseKey: string;
  /** Counted calls, and how many of them passed. */
  readonly counted: number;
  readonly passed: number;
  /** Null when no call is counted, as the rates are. */
  readonly stability: Stability | null;
  readonly passRate: number | null;
  readonly passRateInterval: Interval | null;
  /** For k = 1 … counted: at position k − 1. */
  readonly passAtK: readonly number[];
  readonly passHatK: readonly number[];
}

/** Statistics per case, in the order in which the cases first appear. */
export function caseStatistics(calls: readonly CountedCall[]): CaseStatistics[] {
  const groups = new Map<string, { counted: number; passed: number }>();
  for (const { caseKey, outcome } of calls) {
    const group = groups.get(caseKey) ?? { counted: 0, passed: 0 };
    groups.set(caseKey, group);
    if (isCounted(outcome)) group.counted++;
    if (outcome === 'passed') group.passed++;
  }
  return [...groups].map(([caseKey, { counted: n, passed: c }]) => {
    const ks = Array.from({ length: n }, (_, index) => index + 1);
    return {
      caseKey,
      counted: n,
      passed: c,
      stability: n === 0 ? null : c === n ? 'stable pass' : c === 0 ? 'stable fail' : 'flaky',
      passRate: n === 0 ? null : c / n,
      passRateInterval: n === 0 ? null : wilsonInterval(n, c),
      passAtK: ks.map((k) => passAtK(n, c, k)),
      passHatK: ks.map((k) => passHatK(n, c, k)),
    };
  });
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The 97.5th percentile of the normal distribution. */
const Z95 = 1.959963984540054;

/** 95 % confidence interval of a pass rate (Wilson 1927), which is valid for few calls and for rates of 0 and 1. */
export function wilsonInterval(n: number, passed: number): Interval {
  const rate = passed / n;
  const z2 = Z95 ** 2;
  const centre = rate + z2 / (2 * n);
  const margin = Z95 * Math.sqrt((rate * (1 - rate)) / n + z2 / (4 * n * n));
  const scale = 1 + z2 / n;
  // Exact at the ends, where floating-point arithmetic gives 0.9999999999999999.
  return {
    low: passed === 0 ? 0 : (centre - margin) / scale,
    high: passed === n ? 1 : (centre + margin) / scale,
  };
}

/** Chance that at least one of k calls passes: 1 − C(n−c, k) / C(n, k). */
export const passAtK = (n: number, c: number, k: number): number => rounded(1 - choiceRatio(n - c, n, k));

/** Chance that all of k calls pass: C(c, k) / C(n, k). */
export const passHatK = (n: number, c: number, k: number): number => rounded(choiceRatio(c, n, k));

/** Rounded to six digits: further digits depend on the order of multiplication. */
const rounded = (chance: number): number => Math.round(chance * 1e6) / 1e6;

/** C(a, k) / C(n, k) for a ≤ n, without the huge numbers in between. */
function choiceRatio(a: number, n: number, k: number): number {
  let ratio = 1;
  for (let i = 0; i < k; i++) ratio *= Math.max(0, a - i) / (n - i);
  return ratio;
}
