import { normalise } from '../../../libs/evaluation-definition/index.js';
import { FAILURES } from '../../../libs/simulation/index.js';
import {
  FAULTY_AGENT_NAMES,
  FAULTY_AGENTS,
  type FaultyAgentName,
  startFaultyAgent,
} from '../../simulators/agent/testing/faulty-agents.js';
import { callOverHttp } from './call-over-http.js';
import type { Row } from './row.js';

const CALLED = {
  definition: normalise({ script: [{ say: 'Hello.' }, { say: 'Are you open?' }, { say: 'Goodbye.' }] }),
  scenario: { scenarioText: 'You have a question.' },
};
/** Different breaches in the three attempts. */
const ALTERNATING: readonly FaultyAgentName[] = ['malformed-stream', 'status-503', 'cut'];
/** Rate limits are never the agent's fault. */
const NOT_AGENTS: ReadonlySet<FaultyAgentName> = new Set(['status-429']);

/** Agents that answer the first turn well and break the protocol in the second one, in every attempt. */
export function wireRows(): Row[] {
  return [
    ...FAULTY_AGENT_NAMES.map((name): Row => {
      const { effect: description, code } = FAULTY_AGENTS[name];
      const isAgents = !NOT_AGENTS.has(name);
      return {
        ...{ group: isAgents ? 'wire' : 'other', name, description, allowed: [isAgents ? 'failed' : 'error'] },
        reason: code === undefined ? /did not answer/ : new RegExp(FAILURES[code][2]),
        execute: () => callFaulty(name),
      };
    }),
    {
      ...{ group: 'wire', name: 'alternating', description: 'breaks the protocol differently in each attempt' },
      ...{ allowed: ['failed'], reason: /First attempt: .*second attempt: .*third attempt: /s },
      execute: () => {
        let attempt = 0;
        return callFaulty(() => ALTERNATING[attempt++ % ALTERNATING.length]!);
      },
    },
  ];
}

async function callFaulty(fault: Parameters<typeof startFaultyAgent>[0]) {
  const agent = await startFaultyAgent(fault);
  try {
    return [await callOverHttp(CALLED, agent.url)];
  } finally {
    await agent.close();
  }
}
