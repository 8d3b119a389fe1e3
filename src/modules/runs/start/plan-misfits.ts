import { DEFAULT_LANGUAGE, withVariables } from '../../../../libs/evaluation-definition/index.js';
import { misfitOf, type ProtocolName, PROTOCOLS } from '../../../../libs/simulation/index.js';
import type { PlannedEvaluation } from './plan.js';

/** Evaluations that cannot be run over the protocol of the agent, with the reason of each. */
export function misfits(evaluations: readonly PlannedEvaluation[], protocol: ProtocolName) {
  return evaluations.flatMap(({ snapshot, cases }) => {
    const { name, language, definition } = snapshot;
    const rows = hasVariableKinds(definition) ? cases.map(({ variables }) => variables) : [null];
    for (const row of rows) {
      const reason = misfitOf(withVariables(definition, row), language ?? DEFAULT_LANGUAGE, PROTOCOLS.of(protocol));
      if (reason !== undefined) return [{ name, reason }];
    }
    return [];
  });
}

/** Whether a variable decides the type of a check or whose words it is about: only then must the rows be examined. */
const hasVariableKinds = ({ checks }: PlannedEvaluation['snapshot']['definition']): boolean =>
  /"(type|speaker)":"[^"]*\{\{/.test(JSON.stringify(checks));
