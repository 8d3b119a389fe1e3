import { DEFAULT_LANGUAGE, withVariables } from '../../../../libs/evaluation-definition/index.js';
import { misfitOf, type ProtocolModule, type ProtocolName, PROTOCOLS } from '../../../../libs/simulation/index.js';
import type { PlannedEvaluation } from './plan.js';

/** Evaluations that cannot be run over the protocol of the agent, with the reason of each. */
export const misfits = (evaluations: readonly PlannedEvaluation[], protocol: ProtocolName) =>
  misfitsOf(evaluations, PROTOCOLS.of(protocol));

/** What would supply the agent's words, if an evaluation cannot be run for want of them. */
export function wordsCure(evaluations: readonly PlannedEvaluation[], protocol: ProtocolName): string | undefined {
  const module = PROTOCOLS.of(protocol);
  const withWords = misfitsOf(evaluations, { ...module, provides: { ...module.provides, words: true } });
  const reasons = new Set(withWords.map(({ reason }) => reason));
  if (misfitsOf(evaluations, module).every(({ reason }) => reasons.has(reason))) return undefined;
  const names = PROTOCOLS.all.flatMap(({ name, provides }) => (provides.words ? [name] : []));
  return `protocol: ${names.join(' and ')} ${names.length === 1 ? 'provides' : 'provide'} the agent's words; set the protocol of the agent's connection, or start the run with "medium": "text" if the agent also has an address for text`;
}

function misfitsOf(evaluations: readonly PlannedEvaluation[], module: ProtocolModule) {
  return evaluations.flatMap(({ snapshot, cases }) => {
    const { name, language, definition } = snapshot;
    const rows = hasVariableKinds(definition) ? cases.map(({ variables }) => variables) : [null];
    for (const row of rows) {
      const reason = misfitOf(withVariables(definition, row), language ?? DEFAULT_LANGUAGE, module);
      if (reason !== undefined) return [{ name, reason }];
    }
    return [];
  });
}

/** Whether a variable decides the type of a check or whose words it is about: only then must the rows be examined. */
const hasVariableKinds = ({ checks }: PlannedEvaluation['snapshot']['definition']): boolean =>
  /"(type|speaker)":"[^"]*\{\{/.test(JSON.stringify(checks));
