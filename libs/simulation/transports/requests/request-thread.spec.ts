import { OwnedThreads, type ThreadDeath } from '../../../concurrency/index.js';
import type { DefinitionInput } from '../../../evaluation-definition/index.js';
import { OutboundClient } from '../../../outbound-http/index.js';
import { call } from '../../testing/calls.js';
import { block, crash, useFaultyThreads } from '../../testing/faulty-threads.js';
import { delta, event, streamText, TestServers } from '../../../../test/simulators/servers.js';
import { RealClock } from '../../time/clock.js';
import type { AgentCall } from '../modules/endpoint.js';
import { chatCompletionsModule } from '../text/chat-completions/index.js';
import { vapi } from '../wires/vapi/index.js';
import { RequestThread } from './request-thread.js';
import { textTransport } from './thread-line.js';
import { threadPlatform } from './thread-session.js';

const TWO_LINES: DefinitionInput = { script: [{ say: 'A table, please.' }, { say: 'Thanks.' }, { end: 'Done' }] };

describe('text calls in threads of their workspace', () => {
  useFaultyThreads();
  const servers = new TestServers();
  const deaths: ThreadDeath[] = [];
  const threads = new OwnedThreads({
    start: () => new RequestThread({ heapMiB: 64, onDeath: (death) => void deaths.push(death) }),
    most: 4,
  });
  afterEach(async () => {
    deaths.splice(0);
    await servers.close();
  });
  afterAll(() => threads.close());

  const client = new OutboundClient({
    allowedNetworks: ['127.0.0.0/8'],
    resolve: (hostname) =>
      hostname === 'agent.example' ? Promise.resolve(['127.0.0.1']) : Promise.reject(new Error('not found')),
  });
  const callOf = (workspaceId: string, more: Partial<AgentCall> = {}): AgentCall => ({
    ...{ client, workspaceId, assistantId: 'a', phoneNumber: '', callId: `c-${workspaceId}`, ...more },
  });
  const transportTo = (url: string, workspaceId = 'w-1') => {
    const endpoint = { protocol: 'chat-completions', url, headers: {}, firstSpeaker: null, options: {} };
    return textTransport(chatCompletionsModule, endpoint, callOf(workspaceId), threads);
  };
  const talk = (
    url: string,
    { workspaceId, ...more }: Partial<Parameters<typeof call>[1]> & { workspaceId?: string } = {},
  ) => call(TWO_LINES, { clock: new RealClock(), patienceMs: 300, ...more, transport: transportTo(url, workspaceId) });
  const thread = () => threads.threads[0]!;

  it('have words, times and requests of the agent, and results of its tools', async () => {
    const requests: { messages: { role: string; content: string }[] }[] = [];
    const url = await servers.http((response, body) => {
      requests.push(body);
      if (requests.length > 1) return streamText(response, 'It', ' is', ' free.');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const tool = { index: 0, id: 't', function: { name: 'find_table', arguments: '{"people":4}' } };
      response.end(delta({ tool_calls: [tool] }) + delta({}, 'tool_calls') + event('[DONE]'));
    });
    const toolResults = [{ tool: 'find_table', arguments: { people: 4 }, result: { table: 7 } }];
    const result = await call(
      { ...TWO_LINES, toolResults },
      { clock: new RealClock(), transport: transportTo(url.replace('127.0.0.1', 'agent.example')) },
    );
    expect(result.outcome).toBe('passed');
    expect(result.timeline).toMatchObject([
      { speaker: 'caller', text: 'A table, please.' },
      { type: 'tool_call', name: 'find_table', result: { table: 7 } },
      { speaker: 'agent', text: 'It is free.' },
      { speaker: 'caller', text: 'Thanks.' },
      { speaker: 'agent', text: 'It is free.' },
      { type: 'end', code: 'caller_done' },
    ]);
    expect(requests[1]!.messages.at(-1)).toMatchObject({ role: 'tool', content: '{"table":7}' });
    const { requests: exchanged, callId } = result.exchange!;
    expect(callId).toBe('c-w-1');
    expect(exchanged).toMatchObject([
      { turn: 1, status: 200, finishReason: 'tool_calls' },
      { turn: 1, status: 200, finishReason: 'stop' },
      { turn: 2, status: 200, finishReason: 'stop' },
    ]);
    for (const { sentAtMs, firstByteMs, tokenTimesMs } of exchanged.slice(1)) {
      expect(tokenTimesMs).toHaveLength(3);
      const times = [sentAtMs!, firstByteMs!, ...tokenTimesMs];
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }
  });

  it('fail with their own words: a name without an address', async () => {
    const { failure } = await talk('http://nowhere.example/');
    expect(failure).toMatchObject({ code: 'name_not_found' });
  });

  it('end as infrastructure with the thread in which they are, and no call of another workspace does', async () => {
    let asked = 0;
    const hanging = await servers.http(() => void (++asked === 2 && crash(threads.threads.at(-1)!)));
    const healthy = await servers.http((response) => void setTimeout(() => streamText(response, 'Yes.'), 300));
    await talk(healthy, { workspaceId: 'w-1' });
    const [first, second, other] = await Promise.all([
      talk(hanging, { workspaceId: 'hostile' }),
      talk(hanging, { workspaceId: 'hostile' }),
      talk(healthy, { workspaceId: 'w-1' }),
    ]);
    for (const { failure } of [first, second]) {
      expect(failure).toMatchObject({ code: 'thread_ended', fault: 'infrastructure', retryable: true });
    }
    expect(other.outcome).toBe('passed');
    expect(deaths.map(({ callIds }) => callIds)).toEqual([['c-hostile', 'c-hostile']]);
    expect((await talk(healthy, { workspaceId: 'hostile' })).outcome).toBe('passed');
  });

  it('count the stalls of their thread, which may hide when an answer came', async () => {
    const url = await servers.http((response) => {
      block(thread(), 400);
      setTimeout(() => streamText(response, 'Yes.'), 100);
    });
    const { reliability, measures } = await talk(url);
    expect(reliability.worstStallMs).toBeGreaterThan(300);
    expect(reliability.reliable).toBe(false);
    expect(measures.latency.p50!).toBeGreaterThan(300);
  });

  it('are given up at once although their thread is blocked', async () => {
    const given = new AbortController();
    const url = await servers.http((response) => {
      block(thread(), 3_000);
      streamText(response, 'Yes.');
      given.abort(new Error('cancelled'));
    });
    const started = performance.now();
    await expect(talk(url, { signal: given.signal })).rejects.toThrow('cancelled');
    expect(performance.now() - started).toBeLessThan(2_500);
  });

  it.each([
    ['a stream', 'text/event-stream', `data: {"choices":[${'{},'.repeat(10_000)}{}]}\n\n`.repeat(100)],
    ['JSON', 'application/json', `{"choices":[${'{},'.repeat(300_000)}{}]}`],
  ])('refuse %s with too much structure, with the count', async (_what, type, body) => {
    const url = await servers.http((response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    });
    const { failure } = await talk(url);
    expect(failure).toMatchObject({ code: 'answer_too_large', retryable: false });
    expect(failure!.message).toMatch(
      /one answer has \d{3},\d{3} structural characters or more, where 600,000 are allowed/,
    );
  });
});

describe('requests to a platform in a thread of the workspace', () => {
  const servers = new TestServers();
  const threads = new OwnedThreads({ start: () => new RequestThread(), most: 4 });
  afterEach(() => servers.close());
  afterAll(() => threads.close());
  const { signal } = new AbortController();
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  const { assistants, end } = threadPlatform(vapi, 'w-1', threads);

  it('list 1,000 assistants with prompts of 31 kB', async () => {
    const prompt = 'p'.repeat(31_000);
    const all = Array.from({ length: 1_000 }, (_, n) => ({
      id: `assistant ${n}`,
      name: `Assistant ${n}`,
      model: { messages: [{ role: 'system', content: prompt }] },
    }));
    const url = await servers.http((response, _body, { url: path }) =>
      response.end(JSON.stringify(path!.startsWith('/assistant') ? all : [])),
    );
    const { items, total } = await assistants!({ client, url, apiKey: 'k' }, { offset: 990, limit: 10 }, signal);
    expect(total).toBe(1_000);
    expect(items).toHaveLength(10);
    expect(items[9]).toMatchObject({ assistantId: 'assistant 999', prompt });
  });

  it('refuse a record with too much structure, with the count, and a text as long as a list is cut', async () => {
    const url = await servers.http((response, _body, { url: path }) => {
      const list = path!.startsWith('/assistant') ? [{ id: 'a', name: 'n'.repeat(30 * 1024 * 1024) }] : [];
      response.end(path!.startsWith('/call') ? `[${'{},'.repeat(600_000)}{}]` : JSON.stringify(list));
    });
    const endpoint = { protocol: 'vapi', url, headers: {}, firstSpeaker: null, options: {}, apiKey: 'k' };
    const ended = end!({ id: 'call', controlUrl: null }, { endpoint, client, signal });
    await expect(ended).rejects.toMatchObject({
      failure: {
        code: 'answer_too_large',
        message: expect.stringMatching(/one record has [\d,]+ structural characters or more, where 1,000,000 are/),
      },
    });
    const { items } = await assistants!({ client, url, apiKey: 'k' }, { offset: 0, limit: 1 }, signal);
    expect(items[0]!.name!.length).toBe(256 * 1024);
  });
});
