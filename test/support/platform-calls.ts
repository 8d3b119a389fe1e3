import type { EvaluationInput } from '../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { TODAY, VoiceCalls } from '../simulators/agent/testing/voice.js';
import { type AgentEndpoint, type CallResult, mediaThreads, transportTo } from '../../libs/simulation/index.js';
import { until } from './until.js';

export const BARGE_IN: EvaluationInput = {
  key: 'barge-in',
  personalityId: 'any',
  name: 'Interrupts a long answer',
  scenarioText: 'You ask three questions at once and interrupt the answer.',
  script: [
    { say: 'When are you open, where are you, and can I park there?' },
    { say: "Thank you, that's enough. Do you have vegan dishes?", bargeIn: { afterMs: 1_500 } },
    { waitSeconds: 1 },
    { end: 'Enough' },
  ],
  checks: [{ type: 'yields_within_ms', ms: 1_500 }, { type: 'clean_protocol' }, { type: 'says', text: 'vegan' }],
};
export const LISTENS: EvaluationInput = { ...BARGE_IN, script: [{ waitSeconds: 2 }, { end: 'Done' }], checks: [] };

interface Double {
  readonly agents: readonly unknown[];
  readonly openCalls: number;
  stop(): Promise<unknown>;
}

export interface TestedPlatform<Options, D extends Double> {
  /** That of voice calls, and the name of the reference agent's platform. */
  readonly protocol: 'elevenlabs' | 'vapi';
  readonly apiKey: string;
  readonly start: (options: Options & { readonly apiKey: string }) => Promise<D>;
}

/** Calls over sockets to the reference agent and to the double of a platform, both of which end after each test. */
export function platformCalls<Options, D extends Double>({ protocol, apiKey, start }: TestedPlatform<Options, D>) {
  const calls = new VoiceCalls();
  const servers: ReferenceAgentServer[] = [];
  const doubles: D[] = [];
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  beforeAll(() => calls.prepare(), 180_000);
  afterEach(async () => {
    for (const one of servers.splice(0)) await one.close();
    for (const one of doubles.splice(0)) await one.stop();
  });
  afterAll(async () => {
    await mediaThreads.close();
    await calls.close();
  });

  const endpointOf = (url: string, name: string = protocol): AgentEndpoint => ({
    ...{ protocol: name, url, headers: {}, firstSpeaker: null, options: {}, apiKey },
  });
  const calledAs = (assistantId: string) => ({
    client,
    assistantId,
    phoneNumber: '',
    workspaceId: 'w-1',
    callId: 'c-1',
  });
  return {
    doubles,
    endpointOf,
    calledAs,

    async serveAgent(): Promise<string> {
      const agent = { prepare: () => calls.prepare(), now: () => TODAY, apiKey };
      const server = await startReferenceAgent({ port: 0, [protocol]: agent });
      servers.push(server);
      return server.url;
    },

    async serveDouble(options: Options): Promise<D> {
      const double = await start({ apiKey, ...options });
      doubles.push(double);
      return double;
    },

    call: (url: string, evaluation: EvaluationInput, wire: string[] = [], more: object = {}): Promise<CallResult> =>
      calls.callOver(
        url,
        evaluation,
        'slt',
        { audio: () => undefined, wire: (lines) => wire.push(...lines) },
        { protocol, apiKey, assistantId: 'booking:healthy', ...more },
      ),

    /** Calls, and gives the call up while it is open. */
    async giveUp(double: Double & { readonly url: string }): Promise<void> {
      const given = new AbortController();
      const before = double.agents.length;
      const transport = transportTo(endpointOf(double.url), calledAs('booking'));
      if (!('call' in transport)) throw new Error('not a transport for voice calls');
      const plan = { rate: 16_000, script: [], firstSpeaker: null, turnEndMs: 700, patienceMs: 60_000 } as const;
      const limits = { maxTurns: 1, maxDurationSeconds: 60 };
      const aborted = transport.call({
        plan: { ...plan, ...limits, conditions: {}, backgroundNoise: false, seed: 1 },
        signal: given.signal,
      });
      await until('the call is open', () => double.agents.length === before + 1);
      given.abort(new Error('given up'));
      await expect(aborted).rejects.toThrow('given up');
      await until('no call is open', () => double.openCalls === 0);
    },
  };
}
