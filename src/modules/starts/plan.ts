import type { VariablesRow } from '../../../libs/evaluation-definition/index.js';
import { type ProtocolName, PROTOCOLS } from '../../../libs/simulation/index.js';
import type { GateSettings } from '../../../libs/statistics/index.js';
import type { Baselines } from '../comparison/baselines.service.js';
import type { Medium } from '../runs/call.entity.js';
import type { EvaluationSnapshot } from '../runs/run-evaluation.entity.js';
import { MAX_PAID_ATTEMPTS } from '../runs/runs.service.js';

/** Maximum number of calls of one run. */
export const MAX_CALLS = 10_000;
export const DEFAULTS = { repeat: 1, concurrency: 5, maxPaidAttempts: MAX_PAID_ATTEMPTS } as const;

/** The content of a run. */
export interface Plan extends GateSettings {
  readonly name: string;
  /** Version of the agent as given by the caller, for instance a commit. */
  readonly agentVersion: string | null;
  /** Medium that was asked for; null: that of the agent's protocol. */
  readonly medium: Medium | null;
  readonly repeat: number;
  readonly concurrency: number;
  /** Dynamic variables for the agent's platform. */
  readonly agentVariables: VariablesRow;
  /** Version of the agent that the platform is asked for. */
  readonly assistantVersion: string | null;
  /** Attempts at a call that a platform may bill. */
  readonly maxPaidAttempts: number;
  readonly evaluations: readonly PlannedEvaluation[];
  readonly baselines: Baselines;
}

export interface PlannedEvaluation {
  readonly id: string;
  readonly snapshot: EvaluationSnapshot;
  /** At least one. */
  readonly cases: readonly PlannedCase[];
}

/** A row of variables of an evaluation, or the evaluation itself if it has none. */
export interface PlannedCase {
  /** Identity across runs. */
  readonly key: string;
  readonly variables: VariablesRow | null;
}

export const callCount = ({ evaluations, repeat }: Pick<Plan, 'evaluations' | 'repeat'>): number =>
  evaluations.reduce((sum, { cases }) => sum + cases.length, 0) * repeat;

/** The evaluation with its dates counted from another moment. */
export function countedFrom(evaluation: PlannedEvaluation, at: Date): PlannedEvaluation {
  const { snapshot } = evaluation;
  const { dates } = snapshot;
  return dates ? { ...evaluation, snapshot: { ...snapshot, dates: { ...dates, at: at.toISOString() } } } : evaluation;
}

/** What a run can cost at most; null if its platform does not bill. */
export const maxPaidSeconds = (
  { evaluations, repeat, maxPaidAttempts }: Plan,
  protocol: ProtocolName,
): number | null =>
  PROTOCOLS.of(protocol).bills === true
    ? evaluations.reduce((sum, { cases, snapshot }) => sum + cases.length * snapshot.definition.maxDurationSeconds, 0) *
      repeat *
      maxPaidAttempts
    : null;
