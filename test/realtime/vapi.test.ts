import { setTimeout as sleep } from 'node:timers/promises';
import { normalise } from '../../libs/evaluation-definition/index.js';
import { EVALUATION_KEYS, referenceEvaluations } from '../simulators/agent/index.js';
import { executeCall, testConnection, transportTo } from '../../libs/simulation/index.js';
import { client as messages, says, VapiServer } from '../../libs/simulation/testing/vapi.js';
import { formsOfSecret } from '../support/secret-forms.js';
import { BARGE_IN, LISTENS, platformCalls } from '../support/platform-calls.js';
import { until } from '../support/until.js';

const KEY = 'sk_Of-the+Test/1234567890';

describe('Vapi over sockets', () => {
  const { endpointOf, calledAs, serveAgent, serveDouble, call, giveUp } = platformCalls({
    protocol: 'vapi',
    apiKey: KEY,
    start: (options: Parameters<typeof VapiServer.start>[0]) => VapiServer.start(options),
  });

  it('reaches a Vapi assistant, which stops when the caller interrupts, on both lines', async () => {
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
    await giveUp(double);
    expect(double.ends).toEqual(['message', expect.stringMatching(/^(message|control)$/)]);
  }, 60_000);

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
        ...['ready passed', 'answered passed', 'words passed'],
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
