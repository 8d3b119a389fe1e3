import { holm } from './holm.js';
import { Hypergeometric } from './hypergeometric.js';

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

/**
 * What became of the pass rate since the baseline. `same`: no difference larger than chance. `undecided`: there are too few
 * calls to find any difference, whatever their outcomes.
 */
export const CHANGES = ['better', 'worse', 'same', 'undecided'] as const;
export type Change = (typeof CHANGES)[number];

export interface Difference {
  readonly change: Change;
  /**
   * p-value in the direction of the difference, adjusted for the number of tests and directions, with at most six decimals.
   * Null if undecided.
   */
  readonly pValue: number | null;
  /** Counted calls of a case that each run needs to decide with this number of tests; null if decided. */
  readonly callsNeeded: number | null;
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
 * was called more often in one run does not distort it. The p-values of each direction are adjusted by Holm's method for
 * all tests: the cases with counted calls in both runs, and all together if there are several.
 */
export function compareCases(cases: readonly SharedCase[]): Comparison {
  return comparisonsOf([cases], ONE_SIDED)[0]!;
}

/**
 * Compares several runs with the same one, each by the cases that it shares with it. The tests of all pairs are one family:
 * if all runs are equal, a difference is named in at most 5 % of such comparisons, in any case of any run and in either
 * direction.
 * @param pairs the shared cases of each run
 */
export const comparePairs = (pairs: readonly (readonly SharedCase[])[]): Comparison[] =>
  comparisonsOf(pairs, TWO_SIDED);

/** Directions that share the 5 %. */
type Sides = typeof ONE_SIDED | typeof TWO_SIDED;
const ONE_SIDED = 1;
const TWO_SIDED = 2;

function comparisonsOf(pairs: readonly (readonly SharedCase[])[], sides: Sides): Comparison[] {
  const testsOfPairs = pairs.map(testsOfPair);
  const differences = differencesOf(testsOfPairs.flat(), sides);
  const untested = undecided(Math.max(1, differences.length) * sides);
  return pairs.map((cases, index) => {
    const tests = testsOfPairs[index]!;
    const own = differences.splice(0, tests.length);
    const ofCase = new Map(tests.flatMap((test, at) => (test.length === 1 ? [[test[0]!, own[at]!] as const] : [])));
    return { overall: own.at(-1) ?? untested, cases: cases.map((one) => ofCase.get(one) ?? untested) };
  });
}

/** Each case with counted calls in both runs, and then all of them together. */
function testsOfPair(cases: readonly SharedCase[]): (readonly SharedCase[])[] {
  const tested = cases.filter(({ current, baseline }) => current.counted > 0 && baseline.counted > 0);
  // With a single case, "all together" is the same test and must not count twice.
  return [...tested.map((one) => [one]), ...(tested.length > 1 ? [tested] : [])];
}

function differencesOf(tests: readonly (readonly SharedCase[])[], sides: Sides): Difference[] {
  const count = tests.length * sides;
  const found = tests.map((cases) => (isSignificant(leastPValue(cases), count) ? testOf(cases) : undefined));
  const adjusted = (direction: keyof Test) => holm(found.map((test) => sides * (test?.[direction] ?? 1)));
  const [worse, better] = [adjusted('worse'), adjusted('better')];
  return found.map((test, index) => (test ? difference(test, worse[index]!, better[index]!) : undecided(count)));
}

/** The smallest p-value that these cases can have: every call passed in one run, and none in the other. */
const leastPValue = (cases: readonly SharedCase[]): number =>
  cases.reduce((p, { current, baseline }) => p / combinations(current.counted, baseline.counted), 1);

/** Number of ways to assign `a + b` calls to runs of `a` and `b` calls. */
function combinations(a: number, b: number): number {
  let ways = 1;
  for (let k = 1; k <= Math.min(a, b); k++) ways *= (Math.max(a, b) + k) / k;
  return ways;
}

const isSignificant = (pValue: number, tests: number): boolean => pValue * tests <= SIGNIFICANCE + ROUNDING;

/** Counted calls a side with which one of this many tests can name a difference. */
function callsNeeded(tests: number): number {
  let calls = 1;
  while (!isSignificant(1 / combinations(calls, calls), tests)) calls++;
  return calls;
}

const undecided = (tests: number): Difference => ({
  change: 'undecided',
  pValue: null,
  callsNeeded: callsNeeded(tests),
});

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
  return { change, pValue: Math.round(pValue * 1e6) / 1e6, callsNeeded: null };
}
