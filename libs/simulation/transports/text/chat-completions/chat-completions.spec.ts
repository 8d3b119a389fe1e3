import { once } from 'node:events';
import { type Socket } from 'node:net';
import { OutboundClient } from '../../../../outbound-http/index.js';
import { agentUrl, chatCompletions, type ChatCompletionsOptions, RealClock } from '../../../index.js';
import { call } from '../../../testing/calls.js';
import { delta, event, streamText, TestServers } from '../../../../../test/simulators/servers.js';

const servers = new TestServers();
afterEach(() => servers.close());

const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
const at = (url: string, more: Partial<ChatCompletionsOptions> = {}) =>
  chatCompletions({ client, url, assistantId: 'a1', apiKey: 'secret', ...more });
const HELLO = { script: [{ say: 'Hello.' }] };
const greet = (url: string, more: Partial<ChatCompletionsOptions> = {}) =>
  call(HELLO, { transport: at(url, more), clock: new RealClock(), patienceMs: 50 });

describe('chat-completions transport', () => {
  it('sends the whole conversation each time, and hears the streamed answer', async () => {
    const seen: any[] = [];
    const url = await servers.http((response, body, { url: path, method, headers }) => {
      seen.push({ path, method, authorization: headers.authorization, body });
      streamText(response, 'Answer', ` ${seen.length}.`);
    });
    const result = await call(
      { script: [{ say: 'One.' }, { say: 'Two.' }] },
      {
        transport: at(`${url}/{assistantId}/c?n={phoneNumber}`, { assistantId: 'a/ä', phoneNumber: '+1 5' }),
        clock: new RealClock(),
      },
    );
    expect(seen).toEqual([
      {
        path: '/a%2F%C3%A4/c?n=%2B1%205',
        method: 'POST',
        authorization: 'Bearer secret',
        body: { model: 'a/ä', messages: [{ role: 'user', content: 'One.' }], stream: true },
      },
      expect.objectContaining({
        body: {
          model: 'a/ä',
          messages: [
            { role: 'user', content: 'One.' },
            { role: 'assistant', content: 'Answer 1.' },
            { role: 'user', content: 'Two.' },
          ],
          stream: true,
        },
      }),
    ]);
    expect(result.timeline.flatMap((entry) => (entry.type === 'speech' ? entry.text : []))).toEqual([
      'One.',
      'Answer 1.',
      'Two.',
      'Answer 2.',
    ]);
    expect(result).toMatchObject({ outcome: 'passed', measures: { turns: 2, latency: { count: 2 } } });
  });

  it('accepts an answer that is not streamed, with any content type', async () => {
    const body = JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'Hi.' } }] });
    for (const type of ['application/json; charset=utf-8', 'text/plain']) {
      const url = await servers.http((response) => response.writeHead(200, { 'content-type': type }).end(body));
      const result = await greet(url);
      expect(result).toMatchObject({ outcome: 'passed', timeline: [{}, { speaker: 'agent', text: 'Hi.' }, {}] });
    }
  });

  it('assembles tool calls from their parts, answers them, and lets the agent continue', async () => {
    const bodies: any[] = [];
    const url = await servers.http((response, body) => {
      bodies.push(body.messages);
      if (bodies.length > 1) return streamText(response, 'Booked.');
      const tool = (more: object) => delta({ tool_calls: [{ index: 0, ...more }] });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(delta({ content: 'One moment.' }));
      response.write(tool({ id: 'c1', type: 'function', function: { name: 'book_table', arguments: '' } }));
      response.write(tool({ function: { arguments: '{"people"' } }));
      response.write(tool({ function: { arguments: ': 4}' } }));
      response.end(delta({}, 'tool_calls') + event('[DONE]'));
    });
    const result = await call(
      { ...HELLO, checks: [{ type: 'calls_tool', tool: 'book_table', arguments: { people: 4 } }] },
      { transport: at(url), clock: new RealClock() },
    );
    expect(result.outcome).toBe('passed');
    expect(result.timeline).toMatchObject([
      { speaker: 'caller' },
      { speaker: 'agent', text: 'One moment.' },
      { type: 'tool_call', name: 'book_table', arguments: { people: 4 } },
      { speaker: 'agent', text: 'Booked.' },
      { type: 'end' },
    ]);
    expect(bodies[1]).toEqual([
      { role: 'user', content: 'Hello.' },
      {
        role: 'assistant',
        content: 'One moment.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'book_table', arguments: '{"people": 4}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"status":"ok"}' },
    ]);
  });

  it('hangs up after a call of the tool end_call and the text that precedes it', async () => {
    const message = {
      content: 'Goodbye.',
      tool_calls: [{ id: 'x', function: { name: 'end_call', arguments: '{"reason":"done"}' } }],
    };
    const url = await servers.http((response) =>
      response.end(JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] })),
    );
    const result = await greet(url);
    expect(result.end).toEqual({ by: 'agent', code: 'agent_hung_up', reason: 'done' });
    expect(result.timeline[1]).toMatchObject({ text: 'Goodbye.' });
  });

  it('requests the greeting with an empty conversation', async () => {
    const lengths: number[] = [];
    const url = await servers.http((response, body) => {
      lengths.push(body.messages.length);
      streamText(response, 'Welcome!');
    });
    const result = await greet(url, { agentSpeaksFirst: true });
    expect(lengths).toEqual([0, 2]);
    expect(result.timeline[0]).toMatchObject({ speaker: 'agent', text: 'Welcome!', turn: 0 });
  });

  it('removes credentials from what the agent says and does, even if they arrive in parts', async () => {
    const apiKey = 'sk-live-0123456789abcdef';
    const message = {
      tool_calls: [{ id: 'x', function: { name: 'end_call', arguments: JSON.stringify({ reason: apiKey }) } }],
    };
    const url = await servers.http((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const part of ['Your key is sk-live-', '0123456', '789abcdef.']) response.write(delta({ content: part }));
      response.end(delta(message, 'tool_calls') + event('[DONE]'));
    });
    const result = await greet(url, { apiKey });
    expect(result.timeline).toMatchObject([
      {},
      { speaker: 'agent', text: 'Your key is [redacted].' },
      { type: 'tool_call', arguments: { reason: '[redacted]' } },
      { type: 'end', reason: '[redacted]' },
    ]);
    expect(JSON.stringify(result)).not.toContain('0123456');
    // A key that is an ordinary word must not change what the agent said.
    const spoken = await greet(url, { apiKey: 'Your key is' });
    expect(spoken.timeline[1]).toMatchObject({ text: 'Your key is sk-live-0123456789abcdef.' });
  });

  it('removes a credential from a tool call that repeats it as its JSON', async () => {
    const apiKey = 'the-secret-name","arguments":{"reason';
    const message = {
      tool_calls: [{ id: 'x', function: { name: 'the-secret-name', arguments: '{"reason":"none"}' } }],
    };
    let answers = 0;
    const url = await servers.http((response) => {
      if (answers++ > 0) return streamText(response, 'Done.');
      response.end(JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] }));
    });
    const { timeline } = await greet(url, { apiKey });
    expect(timeline.find(({ type }) => type === 'tool_call')).toMatchObject({
      name: '[redacted]',
      arguments: null,
      rawArguments: expect.stringContaining('[redacted]'),
    });
    expect(JSON.stringify(timeline)).not.toContain('the-secret-name');
  });

  it('treats an empty answer as silence', async () => {
    const url = await servers.http((response) => streamText(response, ' \n'));
    const result = await greet(url);
    expect(result).toMatchObject({ outcome: 'failed', score: 0, end: { code: 'agent_silent' } });
  });

  it('blames the agent if it calls tools endlessly', async () => {
    const message = { content: null, tool_calls: [{ id: 'x', function: { name: 'search', arguments: 'no json' } }] };
    const url = await servers.http((response) =>
      response.end(JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] })),
    );
    const result = await greet(url);
    expect(result).toMatchObject({ outcome: 'failed', failure: { code: 'tool_loop' }, end: { code: 'failure' } });
    expect(result.timeline[1]).toMatchObject({ type: 'tool_call', arguments: null, rawArguments: 'no json' });
  });

  it('releases the connection when the call ends, and does not wait for a finished stream to be closed', async () => {
    const closed: Promise<unknown>[] = [];
    const url = await servers.http((response) => {
      closed.push(once(response, 'close'));
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(delta({ content: 'Hi.' }, 'stop'));
    });
    const result = await greet(url, { answerTimeoutMs: 20_000 });
    expect(result).toMatchObject({ outcome: 'passed', timeline: [{}, { text: 'Hi.' }, {}] });
    expect(await Promise.all(closed)).toHaveLength(1);
  });

  it('encodes values in URL templates so that they cannot change the URL', () => {
    const values = { assistantId: '../{phoneNumber}?', phoneNumber: '+1&a=\ud800', callId: 'c/1' };
    expect(agentUrl('https://x.test/{assistantId}/{other}?p={phoneNumber}&c={callId}', values)).toBe(
      'https://x.test/..%2F%7BphoneNumber%7D%3F/{other}?p=%2B1%26a%3D%EF%BF%BD&c=c%2F1',
    );
    expect(agentUrl('sip:{phoneNumber}@x.test', { ...values, phoneNumber: '+39@evil.test:5060;lr?a' })).toBe(
      'sip:+39%40evil.test%3A5060%3Blr%3Fa@x.test',
    );
  });

  it.each([
    ['/a/{assistantId}/chat', '..', '/a/%252e%252e/chat'],
    ['/a/{assistantId}', '.', '/a/%252e'],
    ['/a/.{assistantId}/chat', '.', '/a/%252e%252e/chat'],
    ['/a/%2E{assistantId}/chat', '.', '/a/%252e%252e/chat'],
    ['/a/{assistantId}{phoneNumber}/chat', '.', '/a/%252e%252e/chat'],
    ['/a/{assistantId}/chat', '%2e%2e', '/a/%252e%252e/chat'],
    ['/a/{assistantId}/chat', '...', '/a/.../chat'],
    ['/a/chat?q=/{assistantId}/', '..', '/a/chat?q=/../'],
    ['/a/../{assistantId}', 'x', '/x'],
  ])('values do not lead out of the path of %s: %s', (path, assistantId, expected) => {
    const url = new URL(agentUrl(`https://x.test${path}`, { assistantId, phoneNumber: '.', callId: '' }));
    expect(url.pathname + url.search).toBe(expected);
  });

  it('sends a request below the path of the URL for the assistantId ..', async () => {
    const paths: (string | undefined)[] = [];
    const url = await servers.http((response, _body, request) => {
      paths.push(request.url);
      streamText(response, 'Hi.');
    });
    await greet(`${url}/a/{assistantId}/c`, { assistantId: '..' });
    expect(new Set(paths)).toEqual(new Set(['/a/%252e%252e/c']));
  });
});

const head = (type: string) => `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nConnection: close\r\n\r\n`;
const SSE = head('text/event-stream');
/** Writes until the connection is closed. */
function flood(socket: Socket, text: string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(text));
    if (!socket.destroyed) socket.once('drain', write);
  };
  write();
}
const answering = (status: number, code: string): [string, string, (socket: Socket) => void] => [
  `HTTP ${status}`,
  code,
  (socket) => socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`),
];
const MEGABYTE = 'x'.repeat(1024 * 1024);
const KILOBYTES = delta({ content: 'y'.repeat(8_000) });

const nested = (depth: number): string =>
  `{"choices":[{"message":{"tool_calls":[{"function":{"name":"x","arguments":${'['.repeat(depth)}${']'.repeat(depth)}}}]}}]}`;

describe('misbehaving agent that ends the call as an error', () => {
  it.each<[string, string, (socket: Socket) => void]>([
    ...[500, 501, 505].map((status) => answering(status, 'agent_status')),
    ...[408, 425, 502, 503, 504, 522, 529].map((status) => answering(status, 'http_status')),
    answering(429, 'rate_limited'),
    ...[400, 401, 404].map((status) => answering(status, 'http_refused')),
    ['a redirect', 'redirect', (socket) => socket.end('HTTP/1.1 307 No\r\nLocation: http://169.254.169.254/\r\n\r\n')],
    [
      'a stream that is cut by a reset',
      'stream_cut',
      (socket) => socket.write(SSE + delta({ content: 'Well' }), () => socket.resetAndDestroy()),
    ],
    ['a stream that ends without [DONE]', 'stream_cut', (socket) => socket.end(SSE + delta({ content: 'Well' }))],
    ['a stream with invalid JSON', 'invalid_answer', (socket) => socket.end(`${SSE}data: {"choices": [\n\n`)],
    ['a stream with other JSON', 'invalid_answer', (socket) => socket.end(`${SSE}data: ["x"]\n\n`)],
    [
      'an error within the stream',
      'agent_error',
      (socket) => socket.end(SSE + event({ error: { message: 'overloaded' } })),
    ],
    [
      'arguments of a tool that are nested endlessly',
      'answer_too_large',
      (socket) => socket.end(`${head('application/json')}${nested(200_000)}`),
    ],
    ['JSON without an answer', 'invalid_answer', (socket) => socket.end(`${head('application/json')}{"choices":[]}`)],
    ['a web page', 'invalid_answer', (socket) => socket.end(`${head('text/html')}<html></html>`)],
    ['an empty body', 'invalid_answer', (socket) => socket.end(head('text/plain'))],
    [
      'binary data as a stream',
      'invalid_answer',
      (socket) => {
        socket.write(SSE);
        socket.end(Buffer.from([0xff, 0xfe, 0, 0x80, 0xc0]));
      },
    ],
    [
      'something that is not HTTP',
      'bad_response',
      (socket) => socket.end(Buffer.from([0xff, 0, 1, 2, 13, 10, 13, 10])),
    ],
    ['a stream that is never closed', 'timeout', (socket) => socket.write(SSE + delta({ content: 'Well' }))],
    ['no answer at all', 'timeout', () => undefined],
    [
      'an endless event',
      'answer_too_large',
      (socket) => {
        socket.write(`${SSE}data: `);
        flood(socket, MEGABYTE);
      },
    ],
    [
      'endless text',
      'answer_too_large',
      (socket) => {
        socket.write(SSE);
        flood(socket, KILOBYTES);
      },
    ],
    [
      'endless comments',
      'answer_too_large',
      (socket) => {
        socket.write(SSE);
        flood(socket, `:${'c'.repeat(9_000)}\n`);
      },
    ],
    [
      'endless JSON',
      'answer_too_large',
      (socket) => {
        socket.write(`${head('application/json')}{"a":"`);
        flood(socket, MEGABYTE);
      },
    ],
  ])('%s: %s', async (_what, code, answer) => {
    const url = await servers.raw(answer);
    const before = process.memoryUsage().rss;
    const begun = performance.now();
    const result = await greet(url, { answerTimeoutMs: code === 'timeout' ? 300 : 20_000 });
    expect(result).toMatchObject({
      outcome: 'error',
      score: null,
      failure: { code, fault: 'infrastructure' },
      end: { by: 'tester', code: 'failure' },
    });
    expect(result.reason).toBe(`${result.failure?.message}.`);
    expect(performance.now() - begun).toBeLessThan(10_000);
    // Includes the sending server; far below the 100 MB of the answer.
    expect(process.memoryUsage().rss - before).toBeLessThan(80 * 1024 * 1024);
  });

  it.each(['\\u0000', '\\ud800'])('unstorable characters in an error message are replaced: %s', async (part) => {
    const url = await servers.raw((socket) =>
      socket.end(`${head('application/json')}{"error":{"message":"Out of ${part}order"}}`),
    );
    const { failure, reason, timeline } = await greet(url);
    expect(failure).toMatchObject({ code: 'agent_error', message: expect.stringContaining('Out of \ufffdorder') });
    // What it said is quoted, so the escape sequence itself may appear, as characters.
    const values = JSON.stringify([failure, reason, timeline]).replaceAll('\\\\', '');
    expect(values).not.toMatch(/\\u0000|\\ud800/);
  });

  it('closed port: connection_failed; refused addresses are never connected to', async () => {
    const url = await servers.raw(() => undefined);
    await servers.close();
    expect((await greet(url)).failure).toMatchObject({
      code: 'connection_failed',
      message: `Could not connect to the agent: ECONNREFUSED (${url})`,
      retryable: true,
    });
    const strict = new OutboundClient({ resolve: async () => ['10.0.0.1'] });
    expect((await greet(url, { client: strict })).failure).toMatchObject({ code: 'address_refused', retryable: false });
    expect((await greet('http://agent.test/', { client: strict })).failure).toMatchObject({ code: 'address_refused' });
    expect((await greet('ftp://agent.test/', { client: strict })).failure).toMatchObject({ code: 'url_refused' });
    expect((await greet(url, { apiKey: 'a\r\nb' })).failure).toMatchObject({ code: 'http_refused' });
  });
});
