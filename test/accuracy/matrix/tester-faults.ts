import { fork } from 'node:child_process';
import path from 'node:path';
import { authored, type DefinitionInput, normalise } from '../../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../../libs/outbound-http/index.js';
import { referenceEvaluations } from '../../simulators/agent/index.js';
import { untilEnd } from '../../simulators/agent/testing/accuracy.js';
import { referenceTransport } from '../../simulators/agent/testing/transport.js';
import {
  type CallProgress,
  type CallResult,
  chatCompletions,
  RealClock,
  VirtualClock,
} from '../../../libs/simulation/index.js';
import { freePort } from '../../support/redis.js';
import { until } from '../../support/until.js';
import type { Row } from './row.js';

const AGENT_MS = 100;
const LIMIT_MS = 250;
const STALL_MS = 300;
const PERSONALITY = { name: 'Plain' };

/** Rows about faults of the tester and of its users, with a healthy agent. */
export const TESTER_ROWS: readonly Row[] = [
  {
    ...{ group: 'other', name: 'script-gap', description: 'the script has no answer to what the agent asks' },
    ...{ allowed: ['invalid'], reason: /no answer to "/, execute: async () => [await callWithGap()] },
  },
  {
    ...{
      group: 'other',
      name: 'stalled-tester',
      description: `the tester stands still for ${STALL_MS} ms during an answer`,
    },
    ...{ allowed: ['passed'], execute: async () => [await callWithStall()] },
  },
];

/** A script that has no answer to what the agent asks. */
export const WITH_GAP: Pick<DefinitionInput, 'script' | 'checks'> = {
  script: [
    { say: 'A table, please.' },
    {
      answers: [{ when: { says: { text: 'which wine' } }, say: 'Red.' }],
      until: { says: { text: 'enjoy your wine' } },
      otherwise: 'Sorry?',
    },
  ],
  checks: [{ name: 'Books', type: 'calls_tool', tool: 'book_table' }],
};

function callWithGap(): Promise<CallResult> {
  return untilEnd({
    definition: normalise(WITH_GAP),
    scenario: { scenarioText: 'You want a table.' },
    personality: PERSONALITY,
    transport: referenceTransport({ latencyMs: AGENT_MS }),
    clock: new VirtualClock(),
  });
}

/** The agent has a process of its own, which does not stall. Only the first attempt is disturbed. */
async function callWithStall(): Promise<CallResult> {
  const port = await freePort();
  const program = path.resolve(import.meta.dirname, '../../simulators/agent/main.ts');
  const flags = ['--port', String(port), '--latency-ms', String(AGENT_MS)];
  const agent = fork(program, flags, { execArgv: process.execArgv, stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${url}/health`).then(
      () => true,
      () => false,
    );
  let hasStalled = false;
  const stallOnce = (progress: CallProgress) => {
    if (hasStalled || progress.type !== 'entry' || progress.entry.type !== 'speech') return;
    hasStalled = true;
    setTimeout(() => block(STALL_MS), AGENT_MS / 2);
  };
  try {
    await until('the agent listens', isUp);
    const definition = authored(
      referenceEvaluations('').find(({ key }) => key === 'house-facts')!,
      '',
    );
    const call = (onProgress?: (progress: CallProgress) => void) =>
      untilEnd({
        definition: {
          ...definition,
          checks: [...definition.checks, ...normalise({ checks: [{ type: 'max_latency_ms', ms: LIMIT_MS }] }).checks],
        },
        scenario: definition,
        personality: PERSONALITY,
        transport: chatCompletions({
          client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }),
          url: `${url}/v1/chat/completions`,
          assistantId: 'booking',
        }),
        clock: new RealClock(),
        onProgress,
      });
    // The agent loads its code with its first answers, which takes longer than the limit.
    await call();
    return await call(stallOnce);
  } finally {
    agent.kill();
  }
}

function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
