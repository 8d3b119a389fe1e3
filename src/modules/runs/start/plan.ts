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

/** Weaknesses of a plan, one sentence each. */
export function warnings({ evaluations }: Plan, hasModel: boolean): string[] {
  const named = (ones: readonly PlannedEvaluation[]) => ones.map(({ snapshot }) => `"${snapshot.name}"`).join(', ');
  const withoutRequirements = evaluations.filter(
    ({ snapshot: { definition } }) => definition.checks.length + definition.criteria.length === 0,
  );
  const unjudged = hasModel ? [] : evaluations.filter(({ snapshot }) => snapshot.definition.criteria.length > 0);
  return [
    ...(withoutRequirements.length > 0
      ? [`${named(withoutRequirements)}: has neither checks nor criteria, so every completed call passes.`]
      : []),
    ...(unjudged.length > 0
      ? [
          `${named(unjudged)}: the criteria are not judged, because no language model is configured (LLM_BASE_URL, LLM_MODEL).`,
        ]
      : []),
  ];
}
