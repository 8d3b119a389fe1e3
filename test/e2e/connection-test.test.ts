import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { streamText, TestServers } from '../simulators/servers.js';
import { ConnectionTestPolicy } from '../../src/modules/agents/connection/connection-test-policy.js';
import { agentBody } from '../factories/bodies.js';
import { expectForbidden, expectInvalid, expectNotFound, UUID } from '../support/expect.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

type Behaviour = (response: ServerResponse, body: any, request: IncomingMessage) => void;

const STEPS = ['resolved', 'connected', 'secured', 'accepted', 'answered'];
const greet: Behaviour = (response) => streamText(response, 'Welcome!');

describe('the test of a connection', () => {
  let app: TestApp;
  let servers: TestServers;
  let admin: HttpClient;
  let editor: HttpClient;
  let viewer: HttpClient;
  let policy: ConnectionTestPolicy;

  beforeAll(async () => {
    app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32' } });
    policy = app.nest.get(ConnectionTestPolicy);
  });
  beforeEach(async () => {
    servers = new TestServers();
    policy.timeoutMs = 15_000;
    // Each test has a workspace, and with it a limit, of its own.
    const owner = await app.createWorkspace();
    admin = new HttpClient(app.url, owner.apiKey);
    editor = admin.as((await createKey(app, owner, 'EDITOR')).value);
    viewer = admin.as((await createKey(app, owner, 'VIEWER')).value);
  });
  afterEach(() => servers.close());
  afterAll(() => app.close());

  /** An agent with this connection. @returns the path of its test */
  const connect = async (connection: object, agent: object = {}): Promise<string> => {
    const { body } = await admin.post<any>('/agents', agentBody(agent));
    const path = `/agents/${body.data.id}/connection`;
    expect(await admin.put(path, connection)).toMatchObject({ status: 200 });
    return `${path}/test`;
  };
  const startAgent = async (behave: Behaviour = greet) => {
    const requests: { method: string; headers: IncomingMessage['headers']; body: any }[] = [];
    const url = await servers.http((response, body, request) => {
      requests.push({ method: request.method ?? '', headers: request.headers, body });
      behave(response, body, request);
    });
    return { url, requests };
  };
  const test = async (path: string): Promise<any> => {
    const { status, body } = await editor.post<any>(path);
    expect([status, body.message]).toEqual([200, 'Connection tested']);
    expect(body.data.steps.map(({ step }: any) => step)).toEqual(STEPS);
    return body.data;
  };
  const statuses = ({ steps }: any) => steps.map(({ status }: any) => status);
  const failed = ({ steps }: any) => steps.find(({ status }: any) => status === 'failed');

  it('shows each step with its time, and what the agent said', async () => {
    const agent = await startAgent();
    const result = await test(await connect({ url: agent.url, headers: { 'X-Tenant': 'bella-vista' } }));
    expect(result).toMatchObject({ ok: true, callId: expect.stringMatching(UUID) });
    expect(statuses(result)).toEqual(['passed', 'passed', 'skipped', 'passed', 'passed']);
    for (const { status, ms, message, cure } of result.steps) {
      expect(ms).toEqual(status === 'skipped' ? null : expect.any(Number));
      expect(message).not.toBe('');
      expect(cure).toBeNull();
    }
    expect(result.steps[4].said).toBe('Welcome!');
    expect(agent.requests).toEqual([
      {
        method: 'POST',
        headers: expect.objectContaining({
          'x-call-id': result.callId,
          'x-tenant': 'bella-vista',
          authorization: 'Bearer provider-key-1',
        }),
        body: { model: 'assistant-1', messages: [{ role: 'user', content: 'Hello' }], stream: true },
      },
    ]);
  });

  it('sends no message if the agent speaks first', async () => {
    const agent = await startAgent();
    expect(await test(await connect({ url: agent.url, firstSpeaker: 'agent' }))).toMatchObject({ ok: true });
    expect(agent.requests.map(({ body }) => body.messages)).toEqual([[]]);
  });

  it('sends one request, even if the agent waits for the result of a tool', async () => {
    const toolCalls = [{ id: 'a', function: { name: 'find_customer', arguments: '{}' } }];
    const agent = await startAgent((response) =>
      response.end(JSON.stringify({ choices: [{ message: { tool_calls: toolCalls }, finish_reason: 'tool_calls' }] })),
    );
    const result = await test(await connect({ url: agent.url }));
    expect(result).toMatchObject({ ok: true });
    expect(result.steps[4]).toMatchObject({ said: null, message: expect.stringContaining('find_customer') });
    expect(agent.requests).toHaveLength(1);
  });

  it('hangs up after the first words', async () => {
    let isClosed = false;
    const agent = await startAgent((response) => {
      response.on('close', () => (isClosed = true));
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: 'Welcome' } }] })}\n\n`);
    });
    const result = await test(await connect({ url: agent.url }));
    expect(result.steps[4]).toMatchObject({ status: 'passed', said: 'Welcome' });
    for (let n = 0; !isClosed && n < 100; n++) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isClosed).toBe(true);
  });

  it('counts in no run', async () => {
    const path = await connect({ url: (await startAgent()).url });
    await test(path);
    const agent = path.replace('/connection/test', '');
    expect((await viewer.get<any>(`${agent}/runs`)).body.meta.total).toBe(0);
    expect((await viewer.get<any>(`${agent}/metrics`)).body.data.runs.total).toBe(0);
  });

  it('uses the address of the provider without a connection', async () => {
    const agent = await startAgent((response) => response.writeHead(404).end());
    const other = await createTestApp({
      env: { AGENT_PROVIDER_1_URL: `${agent.url}/{assistantId}`, OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32' },
    });
    try {
      const client = new HttpClient(other.url, (await other.createWorkspace()).apiKey);
      const { body } = await client.post<any>('/agents', agentBody());
      const result = (await client.post<any>(`/agents/${body.data.id}/connection/test`)).body.data;
      expect(failed(result)).toMatchObject({
        step: 'accepted',
        message: expect.stringContaining('AGENT_PROVIDER_1_URL'),
      });
      // The address is the operator's.
      expect(JSON.stringify(result)).not.toContain(agent.url);
    } finally {
      await other.close();
    }
  });

  describe('names the step that failed, what the agent said and a cure, if', () => {
    const respond =
      (status: number, text: string, headers = {}): Behaviour =>
      (response) =>
        response.writeHead(status, headers).end(text);

    it.each<[string, string, Behaviour, RegExp, string | null, RegExp]>([
      [
        'the credentials are wrong',
        'accepted',
        respond(401, 'no such token'),
        /HTTP 401/,
        'no such token',
        /Authorization/,
      ],
      ['the path is wrong', 'accepted', respond(404, 'Not here'), /HTTP 404/, 'Not here', /path of the url/],
      ['it redirects', 'accepted', respond(307, '', { Location: 'https://x.test/' }), /redirect/, '', /final address/],
      ['it limits the rate', 'accepted', respond(429, 'slow down'), /rate-limiting/, 'slow down', /rate limit/],
      ['it fails', 'accepted', respond(500, 'oops'), /HTTP 500/, 'oops', /X-Call-Id/],
      ['it closes the connection', 'accepted', (response) => response.destroy(), /closed/, null, /X-Call-Id/],
      ['it sends a page', 'answered', respond(200, '<html>'), /not a chat completion/, '<html>', /chat-completions/],
      [
        'it reports an error',
        'answered',
        respond(200, '{"error":{"message":"no credit"}}', { 'Content-Type': 'application/json' }),
        /no credit/,
        '{"error":{"message":"no credit"}}',
        /X-Call-Id/,
      ],
      ['it says nothing', 'answered', (response) => streamText(response, ' '), /without words/, null, /without words/],
    ])('%s', async (_what, step, behave, message, said, cure) => {
      const { url } = await startAgent(behave);
      const result = await test(await connect({ url }));
      expect(result.ok).toBe(false);
      expect(failed(result)).toMatchObject({
        step,
        message: expect.stringMatching(message),
        said,
        cure: expect.stringMatching(cure),
        ms: expect.any(Number),
      });
      const at = STEPS.indexOf(step);
      expect(statuses(result).slice(at + 1)).toEqual(STEPS.slice(at + 1).map(() => 'skipped'));
    });

    it('nothing listens on the port', async () => {
      const gone = new TestServers();
      const url = await gone.http(() => undefined);
      await gone.close();
      expect(failed(await test(await connect({ url })))).toMatchObject({
        step: 'connected',
        message: expect.stringContaining('ECONNREFUSED'),
        cure: expect.stringContaining('running'),
      });
    });

    it('the port does not speak TLS', async () => {
      const { url, requests } = await startAgent();
      const result = await test(await connect({ url: url.replace('http:', 'https:') }));
      expect(statuses(result)).toEqual(['passed', 'passed', 'failed', 'skipped', 'skipped']);
      expect(failed(result)).toMatchObject({ step: 'secured', cure: expect.stringContaining('TLS') });
      expect(requests).toEqual([]);
    });

    it('the port does not speak HTTP', async () => {
      const url = await servers.raw((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
      const step = failed(await test(await connect({ url })));
      expect(step).toMatchObject({ step: 'accepted', cure: expect.stringContaining('HTTP') });
    });

    it('the agent that should speak first needs a message', async () => {
      const { url } = await startAgent(respond(400, 'messages must not be empty'));
      expect(failed(await test(await connect({ url, firstSpeaker: 'agent' })))).toMatchObject({
        said: 'messages must not be empty',
        cure: expect.stringContaining('firstSpeaker to caller'),
      });
    });

    it.each<[string, Behaviour, string]>([
      ['does not answer', () => undefined, 'accepted'],
      ['begins to answer, but not with words', (response) => void response.writeHead(200).flushHeaders(), 'answered'],
    ])('the agent %s in time', async (_what, behave, step) => {
      policy.timeoutMs = 300;
      const { url } = await startAgent(behave);
      const begun = performance.now();
      expect(failed(await test(await connect({ url })))).toMatchObject({
        step,
        message: expect.stringContaining('time'),
      });
      expect(performance.now() - begun).toBeLessThan(10_000);
    });

    it('the port accepts connections, but no TLS handshake, in time', async () => {
      policy.timeoutMs = 500;
      const url = await servers.raw(() => undefined);
      const step = failed(await test(await connect({ url: url.replace('http:', 'https:') })));
      expect(step).toMatchObject({ step: 'secured', message: 'The TLS handshake was not complete in time' });
    });

    it('the key of the agent cannot be sent', async () => {
      const { url, requests } = await startAgent();
      const step = failed(await test(await connect({ url }, { apiKey: 'kłucz-1' })));
      expect(step).toMatchObject({ step: 'accepted', message: expect.stringContaining('API key'), said: null });
      expect(requests).toEqual([]);
    });
  });

  it('takes at most 15 seconds', () => {
    expect(new ConnectionTestPolicy().timeoutMs).toBe(15_000);
  });

  it('tells nothing about private networks: all addresses that cannot be called get the same answer', async () => {
    const { url, requests } = await startAgent();
    const { port } = new URL(url);
    const names: Record<string, string[]> = {
      'database.internal': ['10.0.0.5'],
      'metadata.internal': ['169.254.169.254'],
      'loopback.internal': ['127.0.0.2'],
      'mapped.internal': ['::ffff:10.0.0.5', 'fd00::1'],
      'unknown.internal': [],
    };
    const client = app.nest.get(OutboundClient);
    const { resolve } = client;
    client.resolve = async (name) => names[name] ?? Promise.reject(new Error('queryA ENOTFOUND'));
    try {
      const results = [];
      for (const name of [...Object.keys(names), 'absent.internal']) {
        const { callId, ...rest } = await test(await connect({ url: `http://${name}:${port}/` }));
        expect(callId).toMatch(UUID);
        results.push(rest);
      }
      const [first, ...others] = results;
      expect(first).toMatchObject({ ok: false, steps: [{ step: 'resolved', status: 'failed' }, {}, {}, {}, {}] });
      expect(first.steps[0].cure).toContain('OUTBOUND_ALLOWED_NETWORKS');
      for (const other of others) expect(other).toEqual(first);
      expect(JSON.stringify(results)).not.toMatch(/10\.0\.0\.5|169\.254|127\.0\.0|fd00|internal/);
      expect(requests).toEqual([]);
    } finally {
      client.resolve = resolve;
    }
  });

  it('does not call the database of the service, although its network is allowed', async () => {
    const { port } = new URL(app.databaseUrl);
    const result = await test(await connect({ url: `http://127.0.0.1:${port}/` }));
    expect(failed(result)).toMatchObject({ step: 'resolved', said: null });
  });

  it('shows no secret of an agent that repeats its headers', async () => {
    const headers = { Authorization: 'Bearer tok-4711-end', 'X-Api-Key': 'Sommer!' };
    const echo = (request: IncomingMessage) => `You sent ${JSON.stringify(request.headers)}`;
    const behaviours: Behaviour[] = [
      (response, _body, request) => streamText(response, echo(request)),
      (response, _body, request) => streamText(response, ...echo(request)),
      (response, _body, request) => response.writeHead(403).end(echo(request)),
      (response, _body, request) => response.end(echo(request)),
      (response, _body, request) => response.end(JSON.stringify({ error: { message: echo(request) } })),
    ];
    for (const behave of behaviours) {
      const { url } = await startAgent(behave);
      const text = JSON.stringify(await test(await connect({ url, headers })));
      expect(text).toContain('[redacted]');
      expect(text).not.toMatch(/tok-4711|sommer!/i);
    }
  });

  describe('is refused', () => {
    it('without an address, with 409', async () => {
      const { body } = await editor.post<any>('/agents', agentBody());
      const response = await editor.post<any>(`/agents/${body.data.id}/connection/test`);
      expect(response).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
      expect(response.body.message).toMatch(/connection.*AGENT_PROVIDER_1_URL/);
    });

    it('to a VIEWER, to another workspace, and for an unknown agent', async () => {
      const agent = await startAgent();
      const path = await connect({ url: agent.url });
      expectForbidden(await viewer.post(path));
      expectForbidden(await new HttpClient(app.url, (await app.createWorkspace()).apiKey).post(path));
      expectNotFound(await editor.post(`/agents/${randomUUID()}/connection/test`));
      expectInvalid(await editor.post(`${path}?probe=1`), 'probe');
      expect(agent.requests).toEqual([]);
    });

    const expectTooMany = ({ status, headers, body }: ApiResponse<any>) => {
      expect([status, body.code, body.message]).toEqual([429, 'TOO_MANY_REQUESTS', 'Rate limit exceeded']);
      const seconds = Number(headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
    };

    it('with 429 while the agent is being tested', async () => {
      const waiting: ServerResponse[] = [];
      const slow = await startAgent((response) => void waiting.push(response));
      const path = await connect({ url: slow.url });
      const first = editor.post<any>(path);
      while (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      expectTooMany(await editor.post(path));
      // Another agent may be tested, also with a key that makes the request repeatable.
      const other = await connect({ url: (await startAgent()).url });
      const headers = { 'Idempotency-Key': randomUUID() };
      expect((await editor.send('POST', other, undefined, headers)).status).toBe(200);
      streamText(waiting[0]!, 'Welcome!');
      expect((await first).body.data.ok).toBe(true);
      expect(slow.requests).toHaveLength(1);
      const again = editor.post<any>(path);
      while (waiting.length === 1) await new Promise((resolve) => setTimeout(resolve, 10));
      streamText(waiting[1]!, 'Welcome!');
      expect((await again).status).toBe(200);
    });

    it('with 429 while it runs for a request with an Idempotency-Key', async () => {
      const waiting: ServerResponse[] = [];
      const slow = await startAgent((response) => void waiting.push(response));
      const path = await connect({ url: slow.url });
      const first = editor.send<any>('POST', path, undefined, { 'Idempotency-Key': randomUUID() });
      while (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      expectTooMany(await editor.post(path));
      streamText(waiting[0]!, 'Welcome!');
      expect((await first).status).toBe(200);
    });

    it('with 429 beyond six of a workspace within a minute, in parallel, too', async () => {
      const agent = await startAgent();
      const paths = [];
      for (let n = 0; n < 10; n++) paths.push(await connect({ url: agent.url }));
      const responses = await Promise.all(paths.map((path) => editor.post<any>(path)));
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(6);
      for (const response of responses.filter(({ status }) => status !== 200)) expectTooMany(response);
      expect(agent.requests).toHaveLength(6);
      // The limit is that of one workspace.
      const owner = await app.createWorkspace();
      admin = editor = new HttpClient(app.url, owner.apiKey);
      await test(await connect({ url: agent.url }));
    });
  });
});
