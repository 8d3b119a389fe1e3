import { comparePairs, type Difference } from '../../../libs/statistics/index.js';
import { count } from '../../../libs/text/index.js';
import type { MatrixResult, MatrixRun, RunMatrix } from './dto/matrix.responses.js';
import type { CaseFigures } from './run-figures.js';
import {
  byCaseKey,
  clockWarnings,
  comparedResult,
  comparedRun,
  displayName,
  type OtherSide,
  type PlannedSide,
  sharedFigures,
  type Side,
  sum,
} from './sides.js';

/** A run with its results of the cases of the first run, by their `caseKey` there. */
interface Column {
  readonly side: Side;
  readonly cases: ReadonlyMap<string, CaseFigures>;
  /** Differences to the first run; null for that run itself. */
  readonly differences: { readonly overall: Difference; readonly cases: ReadonlyMap<string, Difference> } | null;
}

/** Runs beside a first one, by the cases of its plan. */
export function matrixOf(first: PlannedSide, others: readonly OtherSide[]): RunMatrix {
  const columns = [
    { side: first, cases: byCaseKey(first.figures.cases), differences: null },
    ...besides(first, others),
  ];
  const cases = first.cases.map((one) => {
    const { caseKey, evaluationId, key, variables: row } = one;
    const results = columns.flatMap((column) => resultOf(column, caseKey));
    return { caseKey, evaluationId, key, row, name: displayName(one), results };
  });
  return {
    runs: columns.map(runOf),
    cases,
    warnings: [
      ...columns.flatMap((column) => missingCases(column, first.cases.length)),
      ...tooFewCalls(columns),
      ...clockWarnings(columns.map(({ side }) => side)),
    ],
  };
}

function besides(first: PlannedSide, others: readonly OtherSide[]): Column[] {
  const shared = others.map((other) => sharedFigures(first, other));
  // The first run is the baseline; the other is compared with it.
  const pairs = shared.map((cases) => cases.map(({ current, baseline }) => ({ current: baseline, baseline: current })));
  return comparePairs(pairs).map(({ overall, cases }, index) => ({
    side: others[index]!,
    cases: new Map(shared[index]!.map(({ caseKey, baseline }) => [caseKey, baseline])),
    differences: { overall, cases: new Map(shared[index]!.map(({ caseKey }, at) => [caseKey, cases[at]!])) },
  }));
}

const runOf = ({ side, cases, differences }: Column): MatrixRun => ({
  ...comparedRun(side, sum([...cases.values()])),
  protocol: side.figures.protocol ?? null,
  difference: differences?.overall ?? null,
});

function resultOf({ side, cases, differences }: Column, caseKey: string): MatrixResult[] {
  const figures = cases.get(caseKey);
  return figures ? [{ ...comparedResult(figures, side), difference: differences?.cases.get(caseKey) ?? null }] : [];
}

function missingCases({ side, cases }: Column, planned: number): string[] {
  const [missing, more] = [planned - cases.size, side.figures.cases.length - cases.size];
  return [
    ...(missing > 0 ? [`Run "${side.figures.name}" does not have ${count(missing, 'case')} of the first run.`] : []),
    ...(more > 0 ? [`Run "${side.figures.name}" has ${count(more, 'case')} that the first run does not have.`] : []),
  ];
}

function tooFewCalls(columns: readonly Column[]): string[] {
  const all = columns.flatMap(({ differences }) => [...(differences?.cases.values() ?? [])]);
  const needed = all.flatMap(({ callsNeeded }) => callsNeeded ?? []);
  if (needed.length === 0) return [];
  return [
    `${needed.length} of ${count(all.length, 'difference')}: too few counted calls in one of the two runs to find any; ` +
      `with this number of runs and cases each run needs ${needed[0]} of a case.`,
  ];
}
