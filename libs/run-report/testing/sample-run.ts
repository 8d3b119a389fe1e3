import { type DefinitionInput, normalise } from '../../evaluation-definition/index.js';
import { OutboundClient } from '../../outbound-http/index.js';
import {
  createReferenceAgent,
  type EvaluationKey,
  type FaultName,
  referenceEvaluations,
  startReferenceAgent,
} from '../../../test/simulators/agent/index.js';
import {
  type AgentAction,
  type CallResult,
  executeCall,
  chatCompletions,
  inProcess,
  type JsonValue,
  type LanguageModel,
  RealClock,
  type Transport,
  VirtualClock,
} from '../../simulation/index.js';
import { stubModel } from '../../../test/simulators/model/llm-stub.js';
import { TestServers } from '../../../test/simulators/servers.js';
import { buildRun, type Built, type PlayedEvaluation } from './build.js';

const REPEAT = 5;
/** Friday, 4 December 2026. */
const NOW = Date.UTC(2026, 11, 4, 10);

/** The planted fault per evaluation and repetition; there is none in the others. */
const FAULTS: Readonly<Partial<Record<EvaluationKey, readonly (FaultName | undefined)[]>>> = {
  'all-details-at-once': Array<FaultName>(REPEAT).fill('forgets-detail'),
  'house-facts': [undefined, 'wrong-fact', undefined, undefined, 'wrong-fact'],
  'answers-in-time': [undefined, undefined, undefined, 'slow-answer', undefined],
  'keeps-its-prompt': [undefined, undefined, 'leaks-prompt', undefined, undefined],
  'changes-mind': [undefined, undefined, undefined, undefined, 'wrong-tool-argument'],
  'says-goodbye': ['silence', undefined, undefined, undefined, undefined],
};

/** Real calls with the reference agent, on a virtual clock, and some over HTTP to a failing agent. */
export async function sampleRun(): Promise<Built> {
  const servers = new TestServers();
  const broken = await startReferenceAgent({ port: 0, fault: 'error-status' });
  try {
    const evaluations: PlayedEvaluation[] = [];
    for (const [position, { key, name, tags, critical, ...definition }] of referenceEvaluations('').entries()) {
      const calls: CallResult[] = [];
      for (let index = 0; index < REPEAT; index++) {
        const isBroken = key === 'declines' && index === 1;
        const fault = FAULTS[key as EvaluationKey]?.[index];
        const transport = isBroken ? overHttp(broken.url) : referenceAgent(position * REPEAT + index, fault);
        calls.push(await play(definition, transport, undefined, isBroken ? new RealClock() : undefined));
      }
      evaluations.push({ name, key, tags, critical, calls });
    }
    evaluations.push(await judged(servers));
    return buildRun(evaluations);
  } finally {
    await Promise.all([servers.close(), broken.close()]);
  }
}

const play = (
  definition: DefinitionInput & { readonly scenarioText: string },
  transport: Transport,
  model?: LanguageModel,
  clock = new VirtualClock() as VirtualClock | RealClock,
): Promise<CallResult> =>
  executeCall({
    definition: normalise(definition),
    scenario: { scenarioText: definition.scenarioText },
    personality: { name: 'Plain caller' },
    transport,
    clock,
    ...(model && { model }),
  });

const overHttp = (url: string): Transport =>
  chatCompletions({
    client: new OutboundClient({ allowedNetworks: ['127.0.0.0/8', '::1/128'] }),
    url: `${url}/v1/chat/completions`,
    assistantId: 'reference',
  });

/** The reference agent with realistic latencies, which differ between answers but not between runs. */
function referenceAgent(seed: number, fault: FaultName | undefined): Transport {
  return inProcess(async function* ({ messages, clock, signal }): AsyncGenerator<AgentAction> {
    const latencyMs = 380 + ((seed * 7_919 + messages.length * 104_729) % 640) + (seed % 9 === 4 ? 220 : 0);
    const agent = createReferenceAgent({ fault, clock, now: () => NOW, latencyMs, tokensPerSecond: 4, slowMs: 2_100 });
    for await (const part of agent.respond(messages, { signal })) {
      if (part.type === 'text') yield { say: part.text };
      if (part.type === 'tool_call') {
        const args = JSON.parse(part.arguments) as { readonly [name: string]: JsonValue };
        yield { tool: part.name, arguments: args };
      }
    }
  });
}

/** An evaluation without a script and with criteria; both models are stubs. */
async function judged(servers: TestServers): Promise<PlayedEvaluation> {
  const scenarioText = 'You are planning a birthday for twelve people and want to know what the house offers.';
  const criteria = [
    { text: 'The agent answers the question about vegan dishes.' },
    { text: 'The agent asks whether it is a special occasion.' },
    { text: 'The agent stays friendly.', required: false, weight: 0.5 },
  ];
  const calls: CallResult[] = [];
  for (let index = 0; index < REPEAT; index++) {
    const lines = [
      { say: 'Good evening! We are planning a birthday. Do you have vegan dishes?', end: null },
      index === 2
        ? { say: 'You can reach me under 0171 5550199, by the way. Is there parking?', end: null }
        : { say: 'Lovely. And is there parking nearby?', end: null },
      { say: 'Thank you, goodbye.', end: 'All questions are answered' },
    ];
    let spoken = 0;
    const { model } = await stubModel(servers, ({ role, statement, temperature }) => {
      if (role === 'caller') return lines[Math.min(spoken++, lines.length - 1)]!;
      const isOccasion = statement.includes('occasion');
      const reasoning = isOccasion
        ? 'The caller mentions a birthday, but the agent goes straight to the answer and never asks about the occasion.'
        : 'It does so, politely and in full.';
      if (statement.startsWith('The caller')) return { met: true, quote: 'We are planning a birthday', reasoning };
      // The second sample sometimes contradicts the first.
      const met = !isOccasion || index === 4 || (index === 3 && temperature > 0 && spoken++ % 2 === 1);
      return {
        met,
        quote: isOccasion || statement.includes('vegan') ? 'three vegan main courses' : 'there is free parking',
        reasoning,
      };
    });
    calls.push(await play({ scenarioText, criteria, maxTurns: 8 }, referenceAgent(200 + index, undefined), model));
  }
  return { name: 'Answers a curious guest', key: null, tags: [], calls };
}
