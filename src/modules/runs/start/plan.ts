import type { EvaluationSnapshot } from '../run-evaluation.entity.js';

/** Most calls of one run. */
export const MAX_CALLS = 10_000;
/** With so many calls of an agent waiting, no further run of it begins. */
export const MAX_WAITING = 50_000;
export const DEFAULTS = { repeat: 1, concurrency: 5 } as const;

/** What is to be carried out. */
export interface Plan {
  readonly name: string;
  readonly repeat: number;
  readonly concurrency: number;
  readonly minimumScore: number | null;
  readonly evaluations: readonly PlannedEvaluation[];
}

export interface PlannedEvaluation {
  readonly id: string;
  readonly snapshot: EvaluationSnapshot;
}

export const callCount = ({ evaluations, repeat }: Plan): number => evaluations.length * repeat;

/** What the reader of a plan should know before it is carried out, each a sentence. */
export function warnings({ evaluations }: Plan, hasModel: boolean): string[] {
  const named = (ones: readonly PlannedEvaluation[]) => ones.map(({ snapshot }) => `"${snapshot.name}"`).join(', ');
  const asksNothing = evaluations.filter(
    ({ snapshot: { definition } }) => definition.checks.length + definition.criteria.length === 0,
  );
  const unjudged = hasModel ? [] : evaluations.filter(({ snapshot }) => snapshot.definition.criteria.length > 0);
  return [
    ...(asksNothing.length > 0
      ? [`${named(asksNothing)}: has neither checks nor criteria, so that every call which takes place passes.`]
      : []),
    ...(unjudged.length > 0
      ? [
          `${named(unjudged)}: the criteria are not judged, because no language model is configured (LLM_BASE_URL, LLM_MODEL).`,
        ]
      : []),
  ];
}
