import type { GateSettings } from '../../../../libs/statistics/index.js';
import type { EvaluationSnapshot } from '../run-evaluation.entity.js';

/** Maximum number of calls of one run. */
export const MAX_CALLS = 10_000;
/** Maximum number of waiting calls of an agent; beyond it, no further run can be started. */
export const MAX_WAITING_CALLS = 50_000;
export const DEFAULTS = { repeat: 1, concurrency: 5 } as const;

/** The content of a run. */
export interface Plan extends GateSettings {
  readonly name: string;
  readonly repeat: number;
  readonly concurrency: number;
  readonly evaluations: readonly PlannedEvaluation[];
}

export interface PlannedEvaluation {
  readonly id: string;
  readonly snapshot: EvaluationSnapshot;
}

export const callCount = ({ evaluations, repeat }: Plan): number => evaluations.length * repeat;
