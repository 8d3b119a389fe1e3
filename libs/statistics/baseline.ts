import { compareCases, type Comparison, type PassCounts } from './comparison.js';
import type { Outcome } from './outcome.js';

/** Cases listed in reasons and warnings; the rest is only counted. */
const MAX_NAMED = 10;

/** The run that a gate compares with: its counts are kept, so that its deletion changes nothing. */
export interface Baseline {
  /** Display name of the run. */
  readonly name: string;
  readonly cases: readonly CaseCounts[];
}

export interface CaseCounts extends PassCounts {
  readonly caseKey: string;
}

/** A call as an instance of its case. */
export interface CaseCall {
  readonly caseKey: string;
  readonly outcome: Outcome;
}

/** A case of the plan. */
export interface PlannedCase {
  readonly caseKey: string;
  /** Display name. */
  readonly name: string;
}

export interface BaselineResult {
  /** Each difference for the worse, as a sentence with its numbers. */
  readonly reasons: readonly string[];
  /** What could not be compared. */
  readonly warnings: readonly string[];
}

/** Compares the calls of a run with its baseline. @param cases the plan, in order */
export function compareWithBaseline(
  calls: readonly CaseCall[],
  cases: readonly PlannedCase[],
  baseline: Baseline,
): BaselineResult {
  const before = new Map(baseline.cases.map((one) => [one.caseKey, one]));
  const now = new Map(countCases(calls).map((one) => [one.caseKey, one]));
  const shared = cases.flatMap(({ caseKey, name }) => {
    const counts = before.get(caseKey);
    return counts ? [{ name, baseline: counts, current: now.get(caseKey) ?? { counted: 0, passed: 0 } }] : [];
  });
  const comparison = compareCases(shared);
  return {
    reasons: reasonsOf(shared, comparison, baseline.name),
    warnings: comparisonWarnings({ shared, comparison, missing: cases.length - shared.length }),
  };
}

/** Counted and passed calls per case, in the order in which the cases first appear. */
export function countCases(calls: readonly CaseCall[]): CaseCounts[] {
  const cases = new Map<string, { caseKey: string; counted: number; passed: number }>();
  for (const { caseKey, outcome } of calls) {
    const counts = cases.get(caseKey) ?? { caseKey, counted: 0, passed: 0 };
    cases.set(caseKey, counts);
    if (outcome === 'passed' || outcome === 'failed') counts.counted++;
    if (outcome === 'passed') counts.passed++;
  }
  return [...cases.values()];
}

interface NamedCase {
  readonly name: string;
  readonly current: PassCounts;
  readonly baseline: PassCounts;
}

function reasonsOf(shared: readonly NamedCase[], comparison: Comparison, baseline: string): string[] {
  const worse = shared.flatMap((one, index) => {
    const { change, pValue } = comparison.cases[index]!;
    return change === 'worse' ? [{ ...one, pValue: pValue! }] : [];
  });
  worse.sort((a, b) => a.pValue - b.pValue);
  const reasons = worse
    .slice(0, MAX_NAMED)
    .map((one) => `"${one.name}" became worse than in run "${baseline}": ${numbers(one, one.pValue)}.`);
  if (worse.length > MAX_NAMED) {
    reasons.push(`${worse.length - MAX_NAMED} more cases became worse than in run "${baseline}".`);
  }
  const { change, pValue } = comparison.overall;
  if (change === 'worse' && shared.length > 1) {
    const total = { current: sum(shared.map((one) => one.current)), baseline: sum(shared.map((one) => one.baseline)) };
    reasons.push(
      `The ${shared.length} shared cases together became worse than in run "${baseline}": ${numbers(total, pValue!)}.`,
    );
  }
  return reasons;
}

const numbers = ({ current, baseline }: Omit<NamedCase, 'name'>, pValue: number): string =>
  `${current.passed} of ${current.counted} counted calls passed, instead of ${baseline.passed} of ${baseline.counted} ` +
  `(p ${pValue < 0.001 ? '< 0.001' : `= ${pValue.toFixed(3)}`})`;

const sum = (counts: readonly PassCounts[]): PassCounts => ({
  counted: counts.reduce((total, { counted }) => total + counted, 0),
  passed: counts.reduce((total, { passed }) => total + passed, 0),
});

/** What a comparison cannot show. @param missing number of cases that the baseline does not have */
export function comparisonWarnings({
  shared,
  missing,
  comparison = compareCases(shared),
}: {
  readonly shared: readonly NamedCase[];
  readonly missing: number;
  readonly comparison?: Comparison;
}): string[] {
  const few = shared.flatMap(({ name }, index) => (comparison.cases[index]!.callsNeeded === null ? [] : [`"${name}"`]));
  const needed = Math.max(...comparison.cases.map(({ callsNeeded }) => callsNeeded ?? 0));
  const more = few.length - MAX_NAMED;
  const names = `${few.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return [
    ...(few.length > 0
      ? [`${names}: too few counted calls in one of the runs to find a difference; each run needs ${needed} of a case.`]
      : []),
    ...(missing > 0 ? [`${missing} of the cases ${missing === 1 ? 'is' : 'are'} not in the other run.`] : []),
  ];
}

/** The warning of a gate that compares with the previous run when there is none. */
export const NO_PREVIOUS_RUN = 'There is no previous completed run to compare with.';
