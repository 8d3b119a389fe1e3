import { tone } from '../../libs/audio/index.js';
import { environmentProxy } from '../../libs/environment-proxy/index.js';
import { CallFailure, LanguageModel, VirtualClock } from '../../libs/simulation/index.js';
import { sendCompletion, TestServers } from '../simulators/servers.js';
import { HttpRecogniser, SpeechServer } from '../../libs/speech/index.js';
import { SpeechDouble } from '../simulators/speech/speech-double.js';
import { TranscriptionDouble } from '../simulators/transcription/transcription-double.js';
import { readSettings } from '../../src/platform/config/settings.js';
import { operatorClient } from '../../src/platform/outbound/operator-client.js';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { createTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const TOKEN = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
const servers = new TestServers();
let proxy: ForwardProxy;

beforeEach(async () => {
  proxy = await startForwardProxy({ token: TOKEN });
});
afterEach(async () => {
  await proxy.close();
  await servers.close();
});

/** The proxies of the environment, with credentials. */
const variables = () => {
  const address = `http://user:p%40ss@127.0.0.1:${proxy.port}`;
  return { HTTP_PROXY: address, HTTPS_PROXY: address };
};
/** The same server by a name that only the proxy resolves. */
const hidden = (url: string) => url.replace('127.0.0.1', 'models.example.com');
const proxyOf = (url: string) => environmentProxy(new URL(url), variables());

/** Each model server through the proxy: its address, and a request to it. */
const SERVERS = {
  'the language model': async () => {
    const url = hidden(await servers.http((response) => sendCompletion(response, 'Yes.')));
    return (address = url) => {
      const model = new LanguageModel({
        baseUrl: address,
        shownUrl: 'LLM_BASE_URL',
        model: 'm',
        proxy: proxyOf(address),
      });
      const options = {
        temperature: 0,
        clock: new VirtualClock(),
        signal: new AbortController().signal,
        meter: { add: () => undefined } as never,
      };
      return model.ask([{ role: 'user', content: 'x' }], options);
    };
  },
  'a speech server': async () => {
    const double = new SpeechDouble();
    const url = hidden(await double.start());
    closing.push(() => double.stop());
    return async (address = url) => {
      const options = { setting: 'TTS_BASE_URL', outbound: operatorClient(), pauseMs: 1 };
      const server = new SpeechServer({ baseUrl: address, proxy: proxyOf(address), ...options });
      closing.push(() => server.close());
      return server.synthesise({ text: 'Good morning.', voice: 'anna' });
    };
  },
  'a transcription server': async () => {
    const double = new TranscriptionDouble(() => ({ body: { text: 'Hello.' } }));
    const url = hidden(await double.start());
    closing.push(() => double.stop());
    return (address = url) => {
      const options = { setting: 'STT_BASE_URL', concurrency: 1, outbound: operatorClient() };
      const server = new HttpRecogniser({ baseUrl: address, proxy: proxyOf(address), ...options });
      return server.transcribe({ pcm: tone([440], { rate: 8_000, ms: 500, dbfs: -20 }), rate: 8_000, language: 'en' });
    };
  },
};
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error instanceof CallFailure ? error.failure.message : (error as Error).message),
  );

describe.each(Object.entries(SERVERS))('%s behind a proxy', (_name, prepare) => {
  it('is reached through it, with its credentials', async () => {
    const ask = await prepare();
    expect(await ask()).toBeTruthy();
    expect(proxy.seen).toEqual([expect.stringMatching(/^POST http:\/\/models\.example\.com:\d+\/.* Basic /)]);
    expect(proxy.seen[0]).toContain(TOKEN);
  });

  it.each([
    ['http', 407],
    ['https', 407],
    ['https', 502],
  ] as const)('names the variable of a proxy that refuses: %s, %i', async (scheme, status) => {
    const ask = await prepare();
    proxy.mode = status;
    const message = await messageOf(ask(scheme === 'https' ? 'https://models.example.com/v1' : undefined));
    expect(message).toMatch(new RegExp(`${scheme.toUpperCase()}_PROXY answered with status ${status}`));
    expect(message).not.toMatch(/p@ss|p%40ss|Basic|127\.0\.0\.1/);
    if (scheme === 'https') expect(proxy.seen[0]).toBe(`CONNECT models.example.com:443 ${TOKEN}`);
  });
});

describe('the service behind a proxy', () => {
  it('sends requests to its models through it, and never those to agents and webhooks', async () => {
    const agent = await startScriptedAgent(() => 'Welcome!');
    const receiver: Receiver = await startReceiver();
    const answer = JSON.stringify({ reasoning: 'It does.', quote: 'Welcome!', met: true });
    const model = hidden(await servers.http((response) => sendCompletion(response, answer)));
    const given = { ...variables(), LLM_BASE_URL: `${model}/v1`, LLM_MODEL: 'm' };
    const before = { ...process.env };
    // Also what reads the environment of the process.
    Object.assign(process.env, variables());
    // Not an address of loopback, which is exempt from proxies anyway.
    const elsewhere = (url: string) => url.replace('127.0.0.1', '0.0.0.0');
    const app = await createTestApp({
      env: { ...callEnv(elsewhere(agent.url)), ...given, OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8,0.0.0.0/32' },
    });
    try {
      const judged = shortEvaluation({ criteria: [{ text: 'The agent greets.' }] });
      const { client, agentId } = await prepareEvaluations(app, [judged]);
      const webhook = { url: elsewhere(receiver.url), events: ['run.completed', 'run.failed'] };
      expect(await client.post('/workspace/webhooks', webhook)).toMatchObject({ status: 201 });
      expect(await executeRun(client, agentId)).toMatchObject({ status: 'COMPLETED' });
      await until('the webhook has arrived', () => receiver.received.length > 0);
      expect(proxy.seen.length).toBeGreaterThan(0);
      expect(proxy.seen.every((line) => line.startsWith(`POST ${model}/v1/`))).toBe(true);
    } finally {
      process.env = before;
      await Promise.all([app.close(), agent.close(), receiver.close()]);
    }
  });

  it('refuses a variable without the address of a proxy at the start, without its value, if a model needs it', () => {
    const wrong = { HTTPS_PROXY: 'socks5://user:s3cret@127.0.0.1:1' };
    const model = { LLM_BASE_URL: 'https://models.example.com/v1', LLM_MODEL: 'm' };
    expect(readSettings(wrong).languageModel).toBeUndefined();
    expect(() => readSettings({ ...wrong, ...model })).toThrow(
      /^HTTPS_PROXY must be the address of an http or https proxy/,
    );
    expect(() => readSettings({ ...wrong, ...model })).not.toThrow(/s3cret/);
    expect(readSettings({ ...wrong, ...model, NO_PROXY: 'example.com' }).languageModel?.proxy).toBeUndefined();
  });
});
