import type { CallResult } from '../../../libs/simulation/index.js';

/** Groups of the matrix, in the order of its table. */
export const GROUPS = {
  wire: 'Agent breaks the protocol after a good turn',
  spoken: 'Agent says or does something wrong',
  check: 'Agent has a fault that only one check finds',
  healthy: 'Healthy agent',
  other: "Fault that is not the agent's",
  model: 'Misbehaving model',
} as const;
export type Group = keyof typeof GROUPS;

/** One row of the matrix: a situation, and the outcomes that a correct tester may give it. */
export interface Row {
  readonly group: Group;
  readonly name: string;
  /** What happens, in a few words. */
  readonly description: string;
  /** Outcomes that are right. */
  readonly allowed: readonly CallResult['outcome'][];
  /** A part of the reason that must be given. */
  readonly reason?: RegExp;
  /** Whether the result names the fault and no other. */
  readonly isFound?: (result: CallResult) => boolean;
  /** Executes the call with its retries, possibly more than once with different details. */
  readonly execute: () => Promise<readonly CallResult[]>;
}

export interface MeasuredRow {
  readonly row: Row;
  readonly results: readonly CallResult[];
  readonly wrong: readonly CallResult[];
}

export async function measureRow(row: Row): Promise<MeasuredRow> {
  const results = await row.execute();
  return { row, results, wrong: results.filter((result) => !isRight(row, result)) };
}

const isRight = ({ allowed, reason, isFound }: Row, result: CallResult): boolean =>
  allowed.includes(result.outcome) &&
  (reason === undefined || reason.test(result.reason)) &&
  (isFound === undefined || isFound(result));

/** Whether the agent of the row has a fault that must be found. */
export const isFaulty = ({ group }: Row): boolean => ['wire', 'spoken', 'check'].includes(group);

/** Precision and recall of `failed` over all rows. A missing or wrong reason counts as not found. */
export function matrixAccuracy(measured: readonly MeasuredRow[]) {
  const count = (holds: (one: MeasuredRow, result: CallResult) => boolean) =>
    measured.reduce((sum, one) => sum + one.results.filter((result) => holds(one, result)).length, 0);
  const found = count(({ wrong }, result) => result.outcome === 'failed' && !wrong.includes(result));
  const blamed = count((_one, result) => result.outcome === 'failed');
  const toFind = count(({ row }) => isFaulty(row));
  const foundInFaulty = count(
    ({ row, wrong }, result) => isFaulty(row) && result.outcome === 'failed' && !wrong.includes(result),
  );
  return { precision: blamed === 0 ? 1 : found / blamed, recall: toFind === 0 ? 1 : foundInFaulty / toFind };
}
