/** Where a call is in the plan of its run. */
export interface PlannedCall {
  readonly id: string;
  readonly evaluationId: string;
  /** In the plan, from 0. */
  readonly position: number;
  /** From 1. */
  readonly repetition: number;
}

/** An evaluation of a plan, with the position of its first call and the number of its cases. */
export interface PlannedEvaluation {
  readonly id: string;
  readonly firstCall: number;
  readonly cases: number;
}

export interface DerivedPlan {
  readonly evaluations: readonly PlannedEvaluation[];
  readonly calls: readonly PlannedCall[];
}

/**
 * The plan of a run that has only some calls of another one. The first call of each case is where a plan has it; the positions
 * of calls that are left out stay free behind the last call of their case.
 * @param kept in plan order
 * @param repeat calls of a case
 */
export function derivedPlan(kept: readonly PlannedCall[], repeat: number): DerivedPlan {
  const evaluations: (PlannedEvaluation & { cases: number })[] = [];
  let cases = 0;
  let caseStart: number | undefined;
  let repetition = 0;
  const calls = kept.map(({ id, evaluationId, position, repetition: number }) => {
    const start = position - number + 1;
    if (start !== caseStart) {
      caseStart = start;
      repetition = 0;
      const last = evaluations.at(-1);
      if (last?.id === evaluationId) last.cases++;
      else evaluations.push({ id: evaluationId, firstCall: cases * repeat, cases: 1 });
      cases++;
    }
    repetition++;
    return { id, evaluationId, position: (cases - 1) * repeat + repetition - 1, repetition };
  });
  return { evaluations, calls };
}
