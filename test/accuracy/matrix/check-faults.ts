import { readFileSync } from 'node:fs';
import { normalise } from '../../../libs/evaluation-definition/index.js';
import { untilEnd } from '../../simulators/agent/testing/accuracy.js';
import { type CallResult, VirtualClock } from '../../../libs/simulation/index.js';
import { GUIDE_SCRIPT, guideAgent, guideChecks } from '../../simulators/agent/testing/guide-agent.js';
import type { Row } from './row.js';

const GUIDE = new URL('../../../docs/guides/checks.md', import.meta.url);

/** The agent of the guide to checks: without a fault, and for each check with a fault that only this check finds. */
export function checkRows(): Row[] {
  const checks = guideChecks(readFileSync(GUIDE, 'utf8'));
  const callAgent = (fault?: string) =>
    untilEnd({
      definition: normalise({ script: GUIDE_SCRIPT, checks }),
      scenario: { scenarioText: 'You want a table.' },
      personality: { name: 'Plain' },
      transport: guideAgent(fault),
      clock: new VirtualClock(),
    });
  return [
    ...checks.map(({ type, name }): Row => ({
      ...{ group: 'check', name: type, description: `does not hold: ${name}`, allowed: ['failed'] },
      isFound: (result) => unmet(result).join() === name,
      execute: async () => [await callAgent(name)],
    })),
    {
      ...{ group: 'healthy', name: 'guide', description: 'the agent of the guide to checks, with all its checks' },
      allowed: ['passed'],
      execute: async () => [await callAgent()],
    },
  ];
}

const unmet = ({ checks }: CallResult): (string | null)[] =>
  checks.filter(({ met }) => met !== true).map(({ name }) => name);
