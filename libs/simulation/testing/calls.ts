import { type DefinitionInput, normalise } from '../../evaluation-definition/index.js';
import { type AgentAction, type CallOptions, executeCall, inProcess, VirtualClock } from '../index.js';

export const SCENARIO = { scenarioText: 'You want a table for four on Friday at 19:30 under the name Rossi.' };
export const PERSONALITY = { name: 'Plain caller' };

/** Executes a call with defaults for everything that is irrelevant to a test. */
export function call(
  definition: DefinitionInput,
  options: Omit<CallOptions, 'definition' | 'scenario' | 'personality'> & Partial<CallOptions>,
) {
  return executeCall({
    definition: normalise(definition),
    scenario: SCENARIO,
    personality: PERSONALITY,
    clock: new VirtualClock(),
    ...options,
  });
}

type Answer = string | readonly AgentAction[];

/** An agent in this process that gives these answers in order, each after the delay in milliseconds. */
export function agentSaying(answers: readonly Answer[], { delayMs = 0, agentSpeaksFirst = false } = {}) {
  let turn = 0;
  return inProcess(
    async function* ({ clock, signal }) {
      const answer = answers[turn++] ?? '';
      if (delayMs > 0) await clock.sleep(delayMs, signal);
      if (typeof answer === 'string') yield { say: answer };
      else yield* answer;
    },
    { agentSpeaksFirst },
  );
}
