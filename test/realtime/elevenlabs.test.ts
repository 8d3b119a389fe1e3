import { setTimeout as sleep } from 'node:timers/promises';
import { EVALUATION_KEYS, expectationOf, type FaultName } from '../simulators/agent/index.js';
import { executeTrial, type Trial, trials } from '../simulators/agent/testing/accuracy.js';
import { WORD_FAULT_NAMES } from '../simulators/agent/testing/voice.js';
import { RealClock, testConnection, transportTo } from '../../libs/simulation/index.js';
import { ElevenLabsServer, says, server, type ServerMessage } from '../../libs/simulation/testing/elevenlabs.js';
import { BARGE_IN, LISTENS, platformCalls } from '../support/platform-calls.js';
import { until } from '../support/until.js';
import { formsOfSecret } from '../support/secret-forms.js';

const KEY = 'sk_Of-the+Test/1234567890';

describe('ElevenLabs over sockets', () => {
  const { doubles, endpointOf, calledAs, serveAgent, serveDouble, call, giveUp } = platformCalls({
    protocol: 'elevenlabs',
    apiKey: KEY,
    start: (options: Parameters<typeof ElevenLabsServer.start>[0]) => ElevenLabsServer.start(options),
  });

  it('reaches an ElevenLabs agent, which stops when the caller interrupts, on both lines', async () => {
    const url = await serveAgent();
    const found = await Promise.all([call(url, BARGE_IN), call(url, BARGE_IN, [], { options: { line: 'telephone' } })]);
    for (const { outcome, reason, voice } of found) {
      expect({ outcome, reason }).toMatchObject({ outcome: 'passed' });
      expect(voice!.voice.bargeIns).toMatchObject([{ yielded: true }]);
    }
  }, 90_000);

  it('has the same verdicts in text as over chat completions: healthy, and with each fault where it must be found', async () => {
    const url = await serveAgent();
    const shown = [undefined, 'slow-answer', ...WORD_FAULT_NAMES] as readonly (FaultName | undefined)[];
    const fails = ({ fault, key }: Trial) => expectationOf(fault, key).outcome === 'failed';
    const chosen = shown.flatMap((fault) => {
      const of = trials(1).filter((trial) => trial.fault === fault);
      return fault === undefined ? of : of.filter(fails).slice(0, 1);
    });
    expect(chosen).toHaveLength(EVALUATION_KEYS.length + shown.length - 1);
    const clock = new RealClock();
    const tried = await Promise.all(
      chosen.map((trial) => {
        const called = calledAs(`booking:${trial.fault ?? 'healthy'}`);
        const transport = transportTo(endpointOf(url, 'elevenlabs-text'), called);
        if ('call' in transport) throw new Error('not a protocol of text');
        return executeTrial(trial, transport, clock);
      }),
    );
    const wrong = tried.filter(({ expected, result, isRightReason }) => {
      return result.outcome !== expected.outcome || isRightReason !== (expected.outcome === 'failed');
    });
    expect(wrong.map(({ fault, key, result }) => [fault, key, result.outcome, result.reason])).toEqual([]);
  }, 90_000);

  it('closes every call: at its end, when it is given up, and when the platform refuses it', async () => {
    const script = { onStart: [{ send: [server.metadata(), ...says(1, 'Good evening.', 1_000)] }] };
    const double = await serveDouble({ script });
    await call(double.url, LISTENS);
    await until('the first call is closed', () => double.closes.length === 1);
    await giveUp(double);
    expect(double.closes).toEqual([1000, 1000]);
    const refused = await serveDouble({ required: ['name'] });
    const { outcome, failure } = await call(refused.url, LISTENS);
    expect({ outcome, code: failure?.code }).toEqual({ outcome: 'error', code: 'platform_refused' });
    expect(failure!.message).toMatch(/option variables.*: name/);
    await until('the refused call is closed', () => refused.openCalls === 0);
  }, 60_000);

  it('sends the key in xi-api-key, and keeps neither it nor the signed address anywhere, in 16 encodings', async () => {
    const logged: string[] = [];
    const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => logged.push(String(text)) > 0);
    const signature = 'Sig+Nature/of-the_Test=12345678';
    const echoes = [...formsOfSecret(KEY), ...formsOfSecret(signature)].flatMap((form, index): ServerMessage[] => [
      server.response(form),
      server.correction(form, form),
      server.heard(form),
      server.clientTool(`t${index}`, form, { [form]: form }),
      server.error(1011, 'llm_error', form),
      { type: form },
    ]);
    const double = await serveDouble({
      script: { onStart: [{ send: [server.metadata(), ...says(1, 'Hello.', 500), ...echoes] }] },
    });
    // The address that is signed has a known secret.
    const relay = await ElevenLabsServer.start({
      signedUrl: `${double.url.replace('http', 'ws')}/v1/convai/conversation?conversation_signature=${encodeURIComponent(signature)}`,
    });
    doubles.push(relay);
    double.accept(signature);
    const wire: string[] = [];
    const results = [await call(relay.url, LISTENS, wire)];
    // Also where it goes wrong.
    const wrong = await serveDouble({ refusal: { status: 401, body: `Wrong key: ${formsOfSecret(KEY).join(' ')}` } });
    results.push(await call(wrong.url, LISTENS));
    const tested = await testConnection(endpointOf(wrong.url), calledAs('booking'), 10_000);
    await sleep(50);
    write.mockRestore();

    expect(results.map(({ outcome }) => outcome)).toEqual(['passed', 'error']);
    expect(relay.requests).toHaveLength(1);
    const { url, headers } = relay.requests[0]!;
    expect(headers['xi-api-key']).toBe(KEY);
    const { 'xi-api-key': _, ...otherHeaders } = headers;
    const upgrade = double.upgrades[0]!;
    expect(upgrade.headers).not.toHaveProperty('xi-api-key');
    expect(upgrade.headers).not.toHaveProperty('x-call-id');
    const kept = JSON.stringify([results, wire.map((line) => JSON.parse(line) as unknown), tested, logged]);
    const sent = JSON.stringify([url, otherHeaders, upgrade, double.agents[0]!.received]);
    const leaks = (text: string, secret: string) => formsOfSecret(secret).filter((form) => text.includes(form));
    expect(leaks(kept, KEY)).toEqual([]);
    expect(leaks(kept, signature)).toEqual([]);
    expect(leaks(sent, KEY)).toEqual([]);
  }, 60_000);

  it('is tested until the agent is heard, and says what to do about a wrong key and an unknown agent', async () => {
    const url = await serveAgent();
    const test = (apiKey: string, assistantId: string) =>
      testConnection({ ...endpointOf(url), apiKey }, calledAs(assistantId), 15_000);
    const { ok, steps } = await test(KEY, 'booking');
    expect({ ok, steps: steps.map(({ step, status }) => `${step} ${status}`) }).toEqual({
      ok: true,
      steps: [
        ...['resolved passed', 'connected passed', 'secured skipped', 'accepted passed', 'websocket passed'],
        ...['ready passed', 'answered passed', 'words passed'],
      ],
    });
    for (const [key, agent, cure] of [
      ['another-key', 'booking', 'Check the apiKey'],
      [KEY, 'booking:nobody', 'Check the assistantId'],
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
