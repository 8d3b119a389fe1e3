import { setTimeout as sleep } from 'node:timers/promises';
import type { EvaluationInput } from '../../libs/evaluation-definition/index.js';
import { normalise } from '../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import {
  EVALUATION_KEYS,
  type ReferenceAgentServer,
  referenceEvaluations,
  startReferenceAgent,
} from '../../libs/reference-agent/index.js';
import { TODAY, VoiceCalls } from '../../libs/reference-agent/testing/voice.js';
import {
  type AgentEndpoint,
  type CallResult,
  executeCall,
  mediaThread,
  testConnection,
  transportTo,
} from '../../libs/simulation/index.js';
import { audio, client as messages, says, VapiServer } from '../../libs/simulation/testing/vapi.js';
import { formsOfSecret } from '../support/secret-forms.js';
import { until } from '../support/until.js';

const KEY = 'sk_Of-the+Test/1234567890';
const BARGE_IN: EvaluationInput = {
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
const LISTENS: EvaluationInput = { ...BARGE_IN, script: [{ waitSeconds: 2 }, { end: 'Done' }], checks: [] };

describe('Vapi over sockets', () => {
  const calls = new VoiceCalls();
  const servers: ReferenceAgentServer[] = [];
  const doubles: VapiServer[] = [];
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  beforeAll(() => calls.prepare(), 180_000);
  afterEach(async () => {
    for (const one of servers.splice(0)) await one.close();
    for (const one of doubles.splice(0)) await one.stop();
  });
  afterAll(async () => {
    await mediaThread.close();
    await calls.close();
  });

  async function serveAgent(): Promise<string> {
    const vapi = { prepare: () => calls.prepare(), now: () => TODAY, apiKey: KEY };
    const agent = await startReferenceAgent({ port: 0, vapi });
    servers.push(agent);
    return agent.url;
  }

  async function serveDouble(options: Parameters<typeof VapiServer.start>[0] = {}): Promise<VapiServer> {
    const double = await VapiServer.start({ apiKey: KEY, ...options });
    doubles.push(double);
    return double;
  }

  const call = (
    url: string,
    evaluation: EvaluationInput,
    wire: string[] = [],
    more: object = {},
  ): Promise<CallResult> =>
    calls.callOver(
      url,
      evaluation,
      'slt',
      { audio: () => undefined, wire: (lines) => wire.push(...lines) },
      { protocol: 'vapi', apiKey: KEY, assistantId: 'booking:healthy', ...more },
    );

  const endpointOf = (url: string, protocol = 'vapi'): AgentEndpoint => ({
    ...{ protocol, url, headers: {}, firstSpeaker: null, options: {}, apiKey: KEY },
  });
  const calledAs = (assistantId: string) => ({ client, assistantId, phoneNumber: '', callId: 'c-1' });

  it('reaches the agent, which stops when the caller interrupts, on both lines', async () => {
    const url = await serveAgent();
    const found = await Promise.all([call(url, BARGE_IN), call(url, BARGE_IN, [], { options: { line: 'telephone' } })]);
    for (const { outcome, reason, voice } of found) {
      expect({ outcome, reason }).toMatchObject({ outcome: 'passed' });
      expect(voice!.voice.bargeIns).toMatchObject([{ yielded: true }]);
    }
  }, 90_000);

  it('has the same verdicts in text: healthy, and with a fault of words', async () => {
    const url = await serveAgent();
    const evaluation = referenceEvaluations('any')[EVALUATION_KEYS.indexOf('house-facts')]!;
    const textCall = (assistantId: string) =>
      executeCall({
        definition: normalise(evaluation),
        scenario: { scenarioText: evaluation.scenarioText },
        personality: { name: 'Caller' },
        transport: transportTo(endpointOf(url, 'vapi-chat'), calledAs(assistantId)),
      });
    const [healthy, faulty] = await Promise.all([textCall('booking:healthy'), textCall('booking:wrong-fact')]);
    expect([healthy.outcome, faulty.outcome]).toEqual(['passed', 'failed']);
  }, 60_000);

  it('ends every call at the platform, at its end and when it is given up: a lost socket ends none', async () => {
    const double = await serveDouble({ script: { onStart: [{ send: says('t1', 'Good evening.', 1_000) }] } });
    await call(double.url, LISTENS);
    await until('the first call is ended', () => double.ends.length === 1);
    const given = new AbortController();
    const transport = transportTo(endpointOf(double.url), calledAs('booking'));
    if (!('call' in transport)) throw new Error('not a transport for voice calls');
    const plan = {
      rate: 16_000,
      script: [],
      firstSpeaker: null,
      turnEndMs: 700,
      patienceMs: 60_000,
      maxTurns: 1,
    } as const;
    const aborted = transport.call({
      plan: { ...plan, maxDurationSeconds: 60, conditions: {}, backgroundNoise: false, seed: 1 },
      signal: given.signal,
    });
    await until('the call is open', () => double.agents.length === 2);
    given.abort(new Error('given up'));
    await expect(aborted).rejects.toThrow('given up');
    await until('no call is open', () => double.openCalls === 0);
    expect(double.ends).toEqual(['message', expect.stringMatching(/^(message|control)$/)]);
  }, 60_000);

  it.each([
    ['an address that has expired', { validMs: 0 }, 'not_ready', /awaited no longer/],
    ['the limit on calls at once', { maxCalls: 0 }, 'platform_busy', /limit of the organisation/],
    ['no credit', { refusal: { status: 402, body: '{"message":"no credits"}' } }, 'platform_refused', /credit/],
    [
      'a close in the middle',
      { script: { onStart: [{ send: audio(500) }, { afterMs: 700, close: { code: 1011, reason: 'Worker died' } }] } },
      'connection_lost',
      /1011/,
    ],
    [
      'an error in the middle',
      { script: { onStart: [{ send: [...audio(500), messages.ended('pipeline-error-openai-llm-failed')] }] } },
      'agent_error',
      /openai-llm-failed/,
    ],
  ] as const)(
    'is an error with the words of the platform at %s',
    async (_what, options, code, words) => {
      const double = await serveDouble(options);
      const { outcome, failure } = await call(double.url, LISTENS);
      expect({ outcome, code: failure?.code }).toEqual({ outcome: 'error', code });
      expect(failure!.message).toMatch(words);
    },
    60_000,
  );

  it('sends the key to the API alone, and keeps neither it nor the addresses anywhere, in 16 encodings', async () => {
    const logged: string[] = [];
    const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => logged.push(String(text)) > 0);
    const [control, address] = ['Con+Trol/of-the_Test=12345678', 'Trans+Port/of-the_Test=87654321'];
    const forms = [KEY, control, address].flatMap((secret) => [...formsOfSecret(secret)]);
    const echoes = forms.flatMap((form) => [
      ...[
        messages.model(`${form} `, 't1'),
        messages.transcript('user', form),
        messages.tools(form, form, { [form]: form }),
      ],
      ...[messages.spoken(form), { type: form }, `not JSON: ${form}`],
    ]);
    const double = await serveDouble({
      controlSecret: control,
      script: { onStart: [{ send: [...says('t1', 'Hello.', 500), ...echoes] }] },
    });
    const relay = await serveDouble({
      controlSecret: control,
      websocketCallUrl: `${double.url.replace('http', 'ws')}/relayed/transport?token=${encodeURIComponent(address)}`,
    });
    double.awaitAt('/relayed/transport');
    const wire: string[] = [];
    const results = [await call(relay.url, LISTENS, wire)];
    // Also where it goes wrong.
    const wrong = await serveDouble({ refusal: { status: 401, body: `Wrong key: ${formsOfSecret(KEY).join(' ')}` } });
    results.push(await call(wrong.url, LISTENS));
    const tested = await testConnection(endpointOf(wrong.url), calledAs('booking'), 10_000);
    await sleep(50);
    write.mockRestore();

    expect(results.map(({ outcome }) => outcome)).toEqual(['passed', 'error']);
    expect(relay.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`]);
    const upgrade = double.upgrades[0]!;
    expect(upgrade.headers).not.toHaveProperty('authorization');
    expect(upgrade.headers).not.toHaveProperty('x-call-id');
    const kept = JSON.stringify([results, wire.map((line) => JSON.parse(line) as unknown), tested, logged]);
    const { authorization: _, ...otherHeaders } = relay.requests[0]!.headers;
    const sent = JSON.stringify([otherHeaders, relay.requests[0]!.body, upgrade, double.agents[0]!.received]);
    const leaks = (text: string, secret: string) => formsOfSecret(secret).filter((form) => text.includes(form));
    for (const secret of [KEY, control, address]) expect(leaks(kept, secret)).toEqual([]);
    expect(leaks(sent, KEY)).toEqual([]);
  }, 60_000);

  it('is tested until the agent is heard, and says what to do about a wrong key and an unknown assistant', async () => {
    const url = await serveAgent();
    const test = (apiKey: string, assistantId: string) =>
      testConnection({ ...endpointOf(url), apiKey }, calledAs(assistantId), 15_000);
    const { ok, steps } = await test(KEY, 'booking');
    expect({ ok, steps: steps.map(({ step, status }) => `${step} ${status}`) }).toEqual({
      ok: true,
      steps: [
        ...['resolved passed', 'connected passed', 'secured skipped', 'accepted passed', 'websocket passed'],
        ...['ready passed', 'answered passed'],
      ],
    });
    for (const [key, agent, cure] of [
      ['another-key', 'booking', 'Check the apiKey'],
      [KEY, 'booking:unknown', 'Check the assistantId'],
    ] as const) {
      const refused = await test(key, agent);
      expect(refused.ok).toBe(false);
      expect(refused.steps.find(({ status }) => status === 'failed')).toMatchObject({
        step: 'accepted',
        cure: expect.stringContaining(cure) as string,
      });
    }
  }, 60_000);
});
