import { authored, normalise } from '../../../libs/evaluation-definition/index.js';
import { type EvaluationKey, referenceEvaluations, startReferenceAgent } from '../../simulators/agent/index.js';
import { untilEnd } from '../../simulators/agent/testing/accuracy.js';
import { inProcess, VirtualClock } from '../../../libs/simulation/index.js';
import { type Called, callOverHttp } from './call-over-http.js';
import { checkRows } from './check-faults.js';
import { OTHER_FAULTS, startOtherFaults } from './other-faults.js';
import type { Row } from './row.js';
import { HEALTHY_AGENTS, startHealthyAgents } from './healthy-agents.js';
import { SPOKEN_FAULTS, type SpokenFault, type SpokenTurn } from './spoken-faults.js';
import { TESTER_ROWS } from './tester-faults.js';
import { wireRows } from './wire-faults.js';

/** Evaluations of several turns, with and without tools. */
const KEYS: readonly EvaluationKey[] = ['books-a-table', 'house-facts', 'changes-mind'];
const PERSONALITY_ID = 'c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251';

export interface Matrix {
  readonly rows: readonly Row[];
  close(): Promise<void>;
}

/** The rows of the matrix that need no language model, over real sockets unless they are about words alone. */
export async function buildMatrix(): Promise<Matrix> {
  const agent = await startReferenceAgent({ port: 0, latencyMs: 20 });
  const healthy = await startHealthyAgents(agent.url);
  const other = await startOtherFaults(agent.url);
  const keys = evaluations();
  const calls = (url: (key: EvaluationKey) => string) => () =>
    Promise.all(KEYS.map((key) => callOverHttp(keys.get(key)!, url(key))));
  const rows: Row[] = [
    ...wireRows(),
    ...Object.entries(SPOKEN_FAULTS).flatMap(([name, fault]) => spokenRows(name, fault)),
    ...checkRows(),
    ...Object.entries(HEALTHY_AGENTS).map(([name, { description }]): Row => ({
      ...{ group: 'healthy', name, description, allowed: ['passed'] },
      execute: calls((key) => healthy.url(name, key)),
    })),
    ...Object.entries(OTHER_FAULTS).map(([name, { description, allowed, reason, address }]): Row => ({
      ...{ group: 'other', name, description, allowed, ...(reason && { reason }) },
      execute: calls((key) => address ?? other.url(name, key)),
    })),
    ...TESTER_ROWS,
  ];
  const close = async () => {
    for (const server of [healthy, other, agent]) await server.close();
  };
  return { rows, close };
}

function evaluations(): ReadonlyMap<string, Called> {
  return new Map(
    referenceEvaluations(PERSONALITY_ID).map((input) => {
      const definition = authored(input, '');
      return [input.key ?? '', { definition, scenario: { scenarioText: definition.scenarioText } }];
    }),
  );
}

/** The faulty agent, and its healthy twin, which shows that the evaluation is fair. */
function spokenRows(name: string, { description, definition, faulty, healthy, reason }: SpokenFault): Row[] {
  const execute = (turns: readonly SpokenTurn[]) => async () => [
    await untilEnd({
      definition: normalise(definition),
      scenario: { scenarioText: 'You have a question.' },
      personality: { name: 'Plain' },
      transport: speaking(turns),
      clock: new VirtualClock(),
    }),
  ];
  return [
    { group: 'spoken', name, description, reason, allowed: ['failed'], execute: execute(faulty) },
    {
      ...{ group: 'healthy', name: `not ${name}`, description: `the same agent without the fault "${name}"` },
      allowed: ['passed'],
      execute: execute(healthy),
    },
  ];
}

const speaking = (turns: readonly SpokenTurn[]) =>
  inProcess(async function* ({ messages, clock, signal }) {
    const turn = messages.filter(({ role }) => role === 'user').length;
    for (const part of turns[turn - 1] ?? []) {
      if (typeof part === 'number') await clock.sleep(part, signal);
      else yield part;
    }
  });
