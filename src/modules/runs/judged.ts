import { datesFrom, normalise, type VariablesRow, withVariables } from '../../../libs/evaluation-definition/index.js';
import type { CallOptions } from '../../../libs/simulation/index.js';
import type { AgentSnapshot } from './run.entity.js';
import type { EvaluationSnapshot } from './run-evaluation.entity.js';

/** What a call is judged by. */
export type Judged = Pick<CallOptions, 'definition' | 'scenario' | 'personality'>;

export const judgedBy = ({ type }: AgentSnapshot, snapshot: EvaluationSnapshot): Judged => ({
  // jsonb does not preserve the order of properties.
  definition: normalise(snapshot.definition),
  scenario: { ...snapshot, isCalled: type === 'OUTBOUND' },
  personality: snapshot.personality,
});

/** The evaluation with the values of a row and with its dates. */
export function evaluationOf(
  snapshot: EvaluationSnapshot,
  row: VariablesRow | null,
  { withDates = true } = {},
): EvaluationSnapshot {
  const { scenarioText, generalInstructions, definition } = snapshot;
  const dates = withDates && snapshot.dates ? datesFrom(snapshot.dates) : undefined;
  return {
    ...snapshot,
    ...withVariables({ scenarioText, generalInstructions }, row, dates),
    definition: withVariables(definition, row, dates),
  };
}
