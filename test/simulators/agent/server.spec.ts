import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import OpenAI from 'openai';
import { FAULT_NAMES } from './faults.js';
import { type ReferenceAgentServer, startReferenceAgent } from './server.js';

const NOW = Date.UTC(2026, 11, 4, 10);
const ALL = 'A table for four on Friday at 7 pm, my name is Anna Keller, my number is 555 0142.';

let server: ReferenceAgentServer;
beforeAll(async () => {
  server = await startReferenceAgent({ port: 0, slowMs: 300, now: () => NOW });
});
afterAll(() => server.close());

const post = (body: unknown, path = '/v1/chat/completions', headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
const hello = { model: 'any', messages: [{ role: 'user', content: 'Hello' }] };
const client = () => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });

describe('server of the reference agent', () => {
  it('streams a response to the official client', async () => {
    const stream = await client().chat.completions.create({
      model: 'booking',
      messages: [{ role: 'user', content: ALL }],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let json = '';
    let name = '';
    let finish = '';
    let tokens = 0;
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? '';
      name += choices[0]?.delta.tool_calls?.[0]?.function?.name ?? '';
      json += choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? '';
      finish += choices[0]?.finish_reason ?? '';
      tokens += usage?.total_tokens ?? 0;
    }
    expect(text).toContain('Shall I book it?');
    expect(name).toBe('check_availability');
    expect(JSON.parse(json)).toEqual({ date: '2026-12-11', weekday: 'Friday', time: '19:00', people: 4 });
    expect(finish).toBe('stop');
    expect(tokens).toBeGreaterThan(20);
  });

  it('answers the official client without streaming, with tools of the client', async () => {
    const completion = await client().chat.completions.create({
      model: 'booking',
      messages: [{ role: 'user', content: ALL }],
      tools: [{ type: 'function', function: { name: 'check_availability', parameters: {} } }],
    });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [{ type: 'function', function: { name: 'check_availability' } }] },
    });
    expect(completion.usage?.completion_tokens).toBeGreaterThan(0);
  });

  it('ends a stream with [DONE], and says goodbye before it hangs up', async () => {
    const response = await post({ stream: true, messages: [{ role: 'user', content: 'Goodbye.' }] });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const body = await response.text();
    expect(body.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(body.indexOf('Goodbye')).toBeGreaterThan(0);
    expect(body.indexOf('end_call')).toBeGreaterThan(body.indexOf('Goodbye'));
  });

  it('shows each fault by path and by model, many at once', async () => {
    const hours = { messages: [{ role: 'user', content: 'When are you open?' }] };
    const ask = async (model: string, path?: string) => (await post({ ...hours, model }, path)).text();
    const answers = await Promise.all([
      ask('gpt'),
      ask('booking:wrong-fact'),
      ask('gpt', '/agents/booking:wrong-fact/v1/chat/completions'),
      ask('gpt', '/agents/booking%3Awrong-fact/v1/chat/completions'),
      ask('booking:wrong-fact', '/agents/booking:healthy/v1/chat/completions'),
      ask('booking', '/agents/booking/v1/chat/completions'),
    ]);
    expect(answers.map((text) => text.includes('11 pm'))).toEqual([false, true, true, true, false, false]);
  });

  it('answers to the earlier name of the healthy agent', async () => {
    expect((await post({ ...hello, model: 'booking:sound' })).status).toBe(200);
  });

  it.each(['/agents/booking:nonsense', '/agents/other', '/agents/booking:silence:x', '/agents/booking:toString'])(
    'returns 404 for the unknown agent %s',
    async (path) => {
      const response = await post(hello, `${path}/v1/chat/completions`);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        error: { code: 'model_not_found', type: 'invalid_request_error' },
      });
    },
  );

  it('lists its agents and its health', async () => {
    const models: any = await (await fetch(`${server.url}/v1/models`)).json();
    expect(models.data.map(({ id }: any) => id)).toEqual([
      'booking',
      'booking:healthy',
      ...FAULT_NAMES.map((fault) => `booking:${fault}`),
    ]);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });

  const third = {
    stream: true,
    messages: [1, 2, 3]
      .flatMap(() => [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'x' },
      ])
      .slice(0, 5),
  };

  it('returns an error status if the fault requires it', async () => {
    const response = await post({ ...third, model: 'booking:error-status' });
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ error: { type: 'server_error', code: 'agent_failed' } });
  });

  it('closes the connection after half of a response if the fault requires it', async () => {
    const response = await post({ ...third, model: 'booking:cut-stream' });
    expect(response.status).toBe(200);
    const decoder = new TextDecoder();
    let body = '';
    const read = async () => {
      for await (const chunk of response.body!) body += decoder.decode(chunk as Uint8Array);
    };
    await expect(read()).rejects.toThrow();
    expect(body).toContain('"content"');
    expect(body).not.toContain('"stop"');
  });

  it('delays its response if the fault requires it', async () => {
    const delays: number[] = [];
    const clock = { sleep: async (ms: number) => void delays.push(ms) };
    const agent = await startReferenceAgent({ port: 0, slowMs: 300, clock });
    const ask = async (model: string) => {
      const body = JSON.stringify({ ...hello, model, stream: true });
      const response = await fetch(`${agent.url}/v1/chat/completions`, { method: 'POST', body });
      expect(await response.text()).toContain('"content"');
      return delays.splice(0);
    };
    try {
      expect(await ask('booking:slow-answer')).toEqual([300]);
      expect(await ask('booking')).toEqual([]);
    } finally {
      await agent.close();
    }
  });

  it('streams at the configured pace', async () => {
    const slow = await startReferenceAgent({ port: 0, tokensPerSecond: 100, latencyMs: 50 });
    try {
      const start = performance.now();
      const response = await fetch(`${slow.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ stream: true, messages: [] }),
      });
      const words = (await response.text()).match(/"content"/g)?.length ?? 0;
      expect(words).toBe(11);
      expect(performance.now() - start).toBeGreaterThanOrEqual(50 + 10 * 9);
    } finally {
      await slow.close();
    }
  });

  it.each([
    ['invalid JSON', '{', 400, null],
    ['an array', '[]', 400, null],
    ['no messages', '{}', 400, 'messages'],
    ['messages that are none', '{"messages":[null]}', 400, 'messages[0]'],
    ['an unknown role', '{"messages":[{"role":"king","content":""}]}', 400, 'messages[0].role'],
    ['content that is none', '{"messages":[{"role":"user","content":7}]}', 400, 'messages[0].content'],
    ['a part without text', '{"messages":[{"role":"user","content":[{}]}]}', 400, 'messages[0].content[0].text'],
    ['an invalid model', '{"model":{},"messages":[]}', 400, 'model'],
    ['tools that are none', '{"messages":[],"tools":[{}]}', 400, 'tools[0].function'],
    ['an invalid stream flag', '{"messages":[],"stream":"yes"}', 400, 'stream'],
    [
      'too many messages',
      JSON.stringify({ messages: Array(1_001).fill({ role: 'user', content: '' }) }),
      400,
      'messages',
    ],
    ['a body beyond its limit', ' '.repeat(1024 * 1024 + 1), 413, null],
  ])('rejects %s', async (_name, body, status, param) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param } });
  });

  it('rejects other paths, methods and encodings', async () => {
    expect((await post(hello, '/v1/embeddings')).status).toBe(404);
    expect((await fetch(`${server.url}/v1/chat/completions`)).status).toBe(405);
    expect((await post(hello, undefined, { 'Content-Encoding': 'gzip' })).status).toBe(415);
    expect((await post(hello, '/agents/%E0%A4%A/v1/chat/completions')).status).toBe(400);
  });

  it('stops reading a request body that is too long', async () => {
    const status = await new Promise<number | string>((resolve) => {
      const { hostname, port } = new URL(server.url);
      const request = httpRequest({ hostname, port, method: 'POST', path: '/v1/chat/completions' });
      const pump = () => {
        while (!request.destroyed && request.write(' '.repeat(65_536)));
      };
      request.on('drain', pump);
      // The answer may be lost in the reset; the connection must be over either way.
      request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
      request.on('response', (response) => resolve(response.statusCode ?? 0));
      pump();
    });
    expect([413, 'ECONNRESET', 'EPIPE']).toContain(status);
    expect((await post(hello)).status).toBe(200);
  });

  it.each([
    ['Retell', { retell: {} }, '/agent-playground-completion/booking'],
    ['Vapi', { vapi: { prepare: () => Promise.reject(new Error('Without a voice')) } }, '/chat'],
  ])('refuses requests of a wrong shape also as an agent of %s', async (_name, options, path) => {
    const platform = await startReferenceAgent({ port: 0, ...options });
    const statusOf = async (body: string) => (await fetch(`${platform.url}${path}`, { method: 'POST', body })).status;
    expect(await Promise.all(['{', 'null', '[]', 'true'].map(statusOf))).toEqual([400, 400, 400, 400]);
    const misshapen = [
      { messages: [null], input: { toString: 1 } },
      { messages: [{ role: 'user', content: 'Hello' }], tool_mocks: [null], assistantId: { toString: 1 } },
      { messages: [{ role: 'tool_call_result', tool_call_id: { toString: 1 } }], previousChatId: {} },
    ];
    const statuses = await Promise.all(misshapen.map((body) => statusOf(JSON.stringify(body))));
    expect(Math.max(...statuses)).toBeLessThan(500);
    await platform.close();
  });

  it('keeps serving after connections that are reset during their upgrade', async () => {
    const platform = await startReferenceAgent({ port: 0, retell: {} });
    const { hostname, port } = new URL(platform.url);
    const upgrade = 'GET /any HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const reset = () =>
      new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () => {
          socket.write(upgrade);
          setTimeout(() => socket.resetAndDestroy(), 0);
        });
        socket.on('error', () => undefined).on('close', () => resolve());
      });
    for (let resets = 0; resets < 50; resets++) await reset();
    expect((await fetch(`${platform.url}/health`)).status).toBe(200);
    await platform.close();
  });

  it('keeps serving after malformed requests and disconnected clients', async () => {
    const { hostname, port } = new URL(server.url);
    await Promise.all(
      [
        '\u0000\u0001\u0002\r\n\r\n',
        'POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{',
      ].map(
        (rubbish) =>
          new Promise<void>((resolve) => {
            const socket = connect(Number(port), hostname, () =>
              socket.write(rubbish, () => setTimeout(() => socket.destroy(), 50)),
            );
            socket.on('error', () => undefined).on('close', () => resolve());
          }),
      ),
    );
    const abort = new AbortController();
    const gone = fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ ...hello, model: 'booking:slow-answer' }),
      signal: abort.signal,
    });
    setTimeout(() => abort.abort(), 50);
    await expect(gone).rejects.toThrow();
    expect((await post(hello)).status).toBe(200);
  });
});
