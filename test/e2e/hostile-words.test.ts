import { ElevenLabsServer } from '../../libs/simulation/testing/elevenlabs.js';
import { RetellServer } from '../simulators/retell/server.js';
import { TestServers } from '../simulators/servers.js';
import { VapiServer } from '../../libs/simulation/testing/vapi.js';
import { compared } from '../support/hostile/compared.js';
import { ExchangeProxy } from '../support/hostile/exchange-proxy.js';
import { FieldsOfExchange } from '../support/hostile/fields-of-exchange.js';
import { hostOf, KEY } from '../support/hostile/platforms.js';
import { HOSTILE_VALUES, unstorable } from '../support/hostile/values.js';
import { importCall } from '../support/imported-calls.js';
import { executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const TEXTS = HOSTILE_VALUES.filter(([, json]) => json.startsWith('"')).map(
  ([what, json]) => [what, JSON.parse(json) as string] as const,
);
/** What XML 1.0 forbids. */
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

const agents = [{ id: 'agent_01', name: 'Bella Vista', language: 'it', prompt: 'You take bookings.' }];
const ACCOUNTS = {
  elevenlabs: () => ElevenLabsServer.start({ apiKey: KEY, agents: [{ ...agents[0]!, phoneNumber: '+15550100' }] }),
  vapi: () =>
    VapiServer.start({
      apiKey: KEY,
      assistants: [
        {
          ...{ id: 'agent_01', name: 'Bella Vista', transcriber: { provider: 'deepgram', language: 'it' } },
          model: { messages: [{ role: 'system', content: 'You take bookings.' }] },
        },
      ],
      phoneNumbers: [{ id: 'number_01', number: '+15550100', assistantId: 'agent_01' }],
    }),
  'retell-text': () => RetellServer.start({ apiKey: KEY, agents }),
};

describe.each(Object.entries(ACCOUNTS))('the list of assistants of an account over %s', (protocol, start) => {
  const exchange = new FieldsOfExchange();
  const stops: (() => Promise<unknown>)[] = [];
  let app: TestApp;
  let list: () => Promise<{ status: number; body: any }>;

  beforeAll(async () => {
    const double = await start();
    const proxy = await ExchangeProxy.start(hostOf(double.url), exchange);
    app = await createTestApp({
      env: {
        OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
        AGENT_PROVIDER_2_PROTOCOL: protocol,
        AGENT_PROVIDER_2_URL: `http://${proxy.host}/list`,
      },
    });
    stops.push(
      () => app.close(),
      () => proxy.stop(),
      () => double.stop(),
    );
    const { client } = await prepareEvaluations(app, []);
    list = () => client.post('/providers/AGENT_PROVIDER_2/assistants', { apiKey: KEY });
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  it('is as with harmless JSON of the same shape, whichever of its fields is hostile', async () => {
    expect((await list()).body).toMatchObject({ data: [{ assistantId: 'agent_01', name: 'Bella Vista' }] });
    expect(exchange.fields.length).toBeGreaterThan(5);
    // The address of the platform is a setting, so there is one variant at a time.
    let turn: Promise<unknown> = Promise.resolve();
    const run = (variant: string) => {
      const listed = turn.then(() => {
        exchange.changes.set('list', exchange.changes.get(variant)!);
        return list();
      });
      turn = listed;
      return listed;
    };
    const { wrong } = await compared(exchange, run, ({ status }) => String(status), {
      atOnce: 1,
      mayRefuse: ({ status }) => [422, 503].includes(status),
    });
    expect(wrong).toEqual([]);
  }, 300_000);
});

describe('hostile words', () => {
  const servers = new TestServers();
  let said = '';
  let app: TestApp;
  let subject: Awaited<ReturnType<typeof prepareEvaluations>>;

  beforeAll(async () => {
    const url = await servers.http((response, body) => {
      const isResult = body.messages.at(-1)?.role === 'tool';
      const tool = {
        id: said,
        type: 'function',
        function: { name: said, arguments: JSON.stringify({ [said]: said }) },
      };
      const message = { content: `Welcome! ${said}`, ...(!isResult && { tool_calls: [tool] }) };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ message, finish_reason: isResult ? 'stop' : 'tool_calls' }] }));
    });
    app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', AGENT_PROVIDER_1_URL: url } });
    subject = await prepareEvaluations(app, [shortEvaluation()]);
    await subject.client.put(`/agents/${subject.agentId}/connection`, { url });
  });
  afterAll(async () => {
    await app.close();
    await servers.close();
  });

  /** What clients read of a run. */
  async function readable(runId: string, callId: string): Promise<void> {
    const { client } = subject;
    const paths = ['', '/calls', '/report', '/junit'].map((path) => `/runs/${runId}${path}`);
    for (const path of [...paths, `/calls/${callId}`]) {
      const { status, body } = await client.get(path);
      expect([path, status, unstorable(body)]).toEqual([path, 200, []]);
      if (!path.endsWith('/junit')) continue;
      expect(body).toContain('<testsuite');
      expect(FORBIDDEN.exec(body)).toBeNull();
    }
  }

  it.each(TEXTS)('of an agent and its tools are stored and readable: %s', async (_what, text) => {
    said = text;
    const { id, status } = await executeRun(subject.client, subject.agentId);
    const [call] = (await subject.client.get(`/runs/${id}/calls`)).body.data;
    expect([status, call.outcome, call.attempts.length]).toEqual(['COMPLETED', 'passed', 1]);
    await readable(id, call.id);
  });

  it.each(TEXTS)('are shown by the test of a connection: %s', async (_what, text) => {
    said = text;
    const { status, body } = await subject.client.post(`/agents/${subject.agentId}/connection/test`);
    expect([status, body.data.ok, unstorable(body)]).toEqual([200, true, []]);
    expect(body.data.steps.at(-1).said).toMatch(/^Welcome! /);
  });

  it.each(TEXTS)(
    'in the transcript of an imported call are stored and readable, or refused: %s',
    async (what, text) => {
      const { client, agentId, apiKey, evaluationIds } = subject;
      const entry = { speaker: 'agent', text: `Welcome! ${text}`, startMs: 0, endMs: 500 };
      const importing = { evaluationId: evaluationIds[0]!, transcript: [entry] };
      const { status, body } = await importCall({ url: app.url, apiKey }, agentId, importing);
      if (text.includes('\u0000') || !text.isWellFormed()) {
        expect([status, body.issues[0].message]).toEqual([
          400,
          expect.stringMatching(/^transcript\[0\]\.text must not contain/),
        ]);
        return;
      }
      expect([what, status]).toEqual([what, 202]);
      await client.get(`/runs/${body.data.runId}?wait=60`);
      await readable(body.data.runId, body.data.id);
    },
  );
});
