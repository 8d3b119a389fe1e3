import { holm } from './holm.js';
import { Hypergeometric } from './hypergeometric.js';

/** Below this number of counted calls on either side, no result of a case is significant at 5 %. */
export const MIN_CALLS_TO_DIFFER = 3;

/** Chance of naming a difference, in one direction, between two runs of an agent that did not change. */
const SIGNIFICANCE = 0.05;

/** Tolerance for rounding: three of three against none of three has a p-value of exactly 0.05. */
const ROUNDING = 1e-9;

/** Counted calls, and how many of them passed. */
export interface PassCounts {
  readonly counted: number;
  readonly passed: number;
}

/** A case that two runs share. */
export interface SharedCase {
  readonly current: PassCounts;
  readonly baseline: PassCounts;
}

/** What became of the pass rate since the baseline. `same`: no difference larger than chance. */
export type Change = 'better' | 'worse' | 'same';

export interface Difference {
  readonly change: Change;
  /**
   * One-sided p-value in the direction of the difference, adjusted for the number of tests, with at most six decimals. Null
   * if there are too few calls to find any difference.
   */
  readonly pValue: number | null;
}

export interface Comparison {
  /** All shared cases together. */
  readonly overall: Difference;
  /** In the given order. */
  readonly cases: readonly Difference[];
}

/**
 * Compares the pass rates of two runs, case by case and together. Each test is exact and conditional on the number of
 * passed calls: Fisher's test for a case; for all of them the same statistic summed over the cases, so that a case that
 * was called more often in one run does not distort it. The p-values of each direction are adjusted by Holm's method.
 */
export function compareCases(cases: readonly SharedCase[]): Comparison {
  const tested = cases.filter(({ current, baseline }) => current.counted > 0 && baseline.counted > 0);
  const tests = cases.map((shared) => (canDiffer(shared) ? testOf([shared]) : undefined));
  // With a single case, "all together" is the same test and must not count twice.
  const overall = tested.length > 1 ? testOf(tested) : undefined;
  const all = [...tests, overall].filter((test) => test !== undefined);
  const worse = holm(all.map(({ worse: p }) => p));
  const better = holm(all.map(({ better: p }) => p));
  const differences = new Map(all.map((test, index) => [test, difference(test, worse[index]!, better[index]!)]));
  const found = tests.map((test) => (test && differences.get(test)) ?? UNKNOWN);
  const [single] = found.filter((_, index) => tests[index] !== undefined);
  return { overall: (overall && differences.get(overall)) ?? single ?? UNKNOWN, cases: found };
}

/** Whether a case has enough calls on both sides. */
export const canDiffer = ({ current, baseline }: SharedCase): boolean =>
  Math.min(current.counted, baseline.counted) >= MIN_CALLS_TO_DIFFER;

const UNKNOWN: Difference = { change: 'same', pValue: null };

/** p-values before adjustment. */
interface Test {
  readonly worse: number;
  readonly better: number;
}

function testOf(cases: readonly SharedCase[]): Test {
  const passed = Hypergeometric.sum(
    cases.map(({ current, baseline }) =>
      Hypergeometric.of(current.counted, baseline.counted, current.passed + baseline.passed),
    ),
  );
  const observed = cases.reduce((sum, { current }) => sum + current.passed, 0);
  return { worse: passed.atMost(observed), better: passed.atLeast(observed) };
}

function difference(test: Test, worse: number, better: number): Difference {
  const isWorse = test.worse < test.better;
  const pValue = isWorse ? worse : better;
  const change = pValue > SIGNIFICANCE + ROUNDING ? 'same' : isWorse ? 'worse' : 'better';
  return { change, pValue: Math.round(pValue * 1e6) / 1e6 };
}
