import { setTimeout as sleep } from 'node:timers/promises';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { type AgentEndpoint, mediaThreads, requestThreads, testConnection } from '../../libs/simulation/index.js';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { TODAY, VoiceCalls } from '../simulators/agent/testing/voice.js';
import { bot, says, toneFrames } from '../simulators/pipecat/messages.js';
import { speech } from '../simulators/pipecat/scripted.js';
import { PipecatServer, type PipecatServerOptions } from '../simulators/pipecat/server.js';
import { BARGE_IN, LISTENS } from '../support/platform-calls.js';
import { formsOfSecret } from '../support/secret-forms.js';

const KEY = 'pk_Of-the+Test/1234567890';
const GREETS = { onClientReady: [{ send: [says.ready(), ...speech('Good evening.', 1_000)] }] };

describe('Pipecat over sockets', () => {
  const calls = new VoiceCalls();
  const agents: ReferenceAgentServer[] = [];
  const doubles: PipecatServer[] = [];
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  beforeAll(() => calls.prepare(), 180_000);
  afterEach(async () => {
    for (const one of agents.splice(0)) await one.close();
    for (const one of doubles.splice(0)) await one.stop();
  });
  afterAll(async () => {
    await mediaThreads.close();
    await requestThreads.close();
    await calls.close();
  });

  /** The reference agent, whose sockets take a token of `/start` or the key. @returns host and port */
  async function serveAgent(): Promise<string> {
    const pipecat = { prepare: () => calls.prepare(), now: () => TODAY, apiKey: KEY };
    const server = await startReferenceAgent({ port: 0, pipecat });
    agents.push(server);
    return new URL(server.url).host;
  }

  async function serveDouble(options: PipecatServerOptions): Promise<PipecatServer> {
    const double = await PipecatServer.start(options);
    doubles.push(double);
    return double;
  }

  const call = (url: string, evaluation = LISTENS, wire: string[] = [], options: AgentEndpoint['options'] = {}) =>
    calls.callOver(
      url,
      evaluation,
      'slt',
      { audio: () => undefined, wire: (lines) => wire.push(...lines) },
      { protocol: 'pipecat', apiKey: KEY, assistantId: 'booking:healthy', options },
    );
  const test = (url: string, apiKey = KEY, options = {}, assistantId = 'booking') =>
    testConnection(
      { protocol: 'pipecat', url, headers: {}, firstSpeaker: null, options, apiKey },
      { client, assistantId, phoneNumber: '', workspaceId: 'w-1', callId: 'c-1' },
      20_000,
    );
  const stepsOf = ({ steps }: Awaited<ReturnType<typeof test>>) =>
    steps.map(({ step, status }) => `${step} ${status}`).join(', ');

  it('reaches a bot, started by a request or not, which stops when the caller interrupts, at each rate', async () => {
    const host = await serveAgent();
    const path = 'agents/{assistantId}';
    const found = await Promise.all([
      call(`ws://${host}/${path}/ws-client`, BARGE_IN),
      call(`http://${host}/${path}/start`, BARGE_IN, [], { rate: 8_000 }),
      call(`ws://${host}/${path}/ws-client`, BARGE_IN, [], { rate: 24_000 }),
    ]);
    for (const { outcome, reason, voice } of found) {
      expect({ outcome, reason }).toEqual({ outcome: 'passed', reason });
      expect(voice!.voice.bargeIns).toMatchObject([{ yielded: true }]);
    }
  }, 90_000);

  it('sends the key to its own address alone, and keeps neither it nor the token anywhere, in 16 encodings', async () => {
    const logged: string[] = [];
    const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => logged.push(String(text)) > 0);
    const token = 'To+Ken/of-the_Test=12345678';
    const forms = [KEY, token].flatMap((secret) => [...formsOfSecret(secret)]);
    const echoes = forms.flatMap((form, index) => [
      ...[says.output(form, 10 + index), says.heard(form), says.call(form, form, { [form]: form }), says.error(form)],
      ...[says.transcription(form), `not a frame: ${form}`, bot.message(`{ not JSON: ${form}`), bot.text(form)],
    ]);
    const onClientReady = [{ send: [says.ready(), ...toneFrames(2_000), ...echoes] }];
    const double = await serveDouble({ script: { onClientReady }, token });
    const wire: string[] = [];
    const results = [await call(`http://${double.host}/start`, LISTENS, wire)];
    const wrong = await serveDouble({ start: () => [401, { detail: `Wrong key: ${formsOfSecret(KEY).join(' ')}` }] });
    results.push(await call(`http://${wrong.host}/start`));
    const tested = await test(`http://${wrong.host}/start`);
    await sleep(50);
    write.mockRestore();

    expect(results.map(({ outcome }) => outcome)).toEqual(['passed', 'error']);
    expect(double.starts.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`]);
    const [{ url, headers }] = double.upgrades as [PipecatServer['upgrades'][0]];
    expect(url).toBe(`/ws-client?token=${encodeURIComponent(token)}`);
    expect([headers.authorization, headers['x-call-id']]).toEqual([undefined, undefined]);
    const kept = JSON.stringify([results, wire.map((line) => JSON.parse(line) as unknown), tested, logged]);
    const leaks = (text: string, secret: string) => formsOfSecret(secret).filter((form) => text.includes(form));
    for (const secret of [KEY, token]) expect(leaks(kept, secret)).toEqual([]);
    expect(leaks(JSON.stringify([double.starts[0]!.body, double.agents[0]!.received]), KEY)).toEqual([]);
  }, 60_000);

  it('calls no private address that an answer names', async () => {
    const double = await serveDouble({ start: () => [200, { wsUrl: 'wss://10.0.0.7/ws-client' }] });
    const result = await call(`http://${double.host}/start`);
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'address_refused', fault: 'infrastructure' } });
  }, 60_000);

  it('is tested until the agent is heard, with the message that has its words', async () => {
    const host = await serveAgent();
    const direct = await test(`ws://${host}/ws-client`);
    expect(stepsOf(direct)).toBe(
      'resolved passed, connected passed, secured skipped, accepted skipped, websocket passed, ready passed, answered passed, words passed',
    );
    expect(direct.steps.at(-1)!.message).toBe('The bot reports what the agent says, by bot-output');
    expect(stepsOf(await test(`http://${host}/start`))).toBe(
      stepsOf(direct).replace('accepted skipped', 'accepted passed'),
    );
  }, 60_000);

  it('says in a test what to do about a wrong key, an unknown bot, and a bot without RTVI', async () => {
    const host = await serveAgent();
    for (const [url, key, assistant, cure] of [
      [`http://${host}/start`, 'another-key', 'booking', 'Check the apiKey'],
      [`ws://${host}/ws-client`, 'another-key', 'booking', 'Check the apiKey'],
      [`http://${host}/agents/{assistantId}/start`, KEY, 'booking:unknown', 'Check the url'],
    ] as const) {
      const refused = await test(url, key, {}, assistant);
      expect(refused.steps.find(({ status }) => status === 'failed')).toMatchObject({
        step: url.startsWith('ws') ? 'websocket' : 'accepted',
        cure: expect.stringContaining(cure) as string,
      });
    }
    const double = await serveDouble({
      script: { onStart: [{ afterMs: 200, send: toneFrames(800) }], onClientReady: [] },
    });
    const { ok, steps } = await test(double.url);
    expect([ok, steps.at(-1)]).toMatchObject([
      true,
      { step: 'words', status: 'skipped', cure: expect.stringContaining('Enable RTVI') as string },
    ]);
  }, 60_000);

  it('counts no cold start as latency: neither that of the request nor that of the bot', async () => {
    const double = await serveDouble({
      script: { onClientReady: [{ ...GREETS.onClientReady[0], afterMs: 1_500 }] },
      acceptAfterMs: 1_000,
    });
    const result = await call(double.url);
    const [greeting] = result.timeline.filter(({ type }) => type === 'speech') as { start: number }[];
    expect(greeting!.start).toBeLessThan(1_000);
  }, 60_000);
});
