import { OutboundClient } from '../../outbound-http/index.js';
import {
  afterAttempt,
  type Attempt,
  attemptOf,
  type CallResult,
  chatCompletions,
  type ChatCompletionsOptions,
  FAILURES,
  RealClock,
} from '../index.js';
import { call } from '../testing/calls.js';
import {
  FAULTY_AGENT_NAMES,
  FAULTY_AGENTS,
  type FaultyAgentName,
  type FaultyAgentServer,
  startFaultyAgent,
} from '../../../test/simulators/agent/testing/faulty-agents.js';

const KEY = 'sk-live-0123456789abcdef';
const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
const TIMES = { startedAt: '2026-12-04T10:00:00.000Z', endedAt: '2026-12-04T10:00:01.000Z' };

let agent: FaultyAgentServer;
afterEach(() => agent.close());

const attempt = (options: Partial<ChatCompletionsOptions> = {}): Promise<CallResult> =>
  call(
    { script: [{ say: 'Hello.' }, { say: 'And now?' }], checks: [{ type: 'never_says', text: 'no' }] },
    {
      transport: chatCompletions({
        client,
        url: agent.url,
        assistantId: 'a1',
        apiKey: KEY,
        answerTimeoutMs: 1_500,
        ...options,
      }),
      clock: new RealClock(),
      patienceMs: 50,
    },
  );

/** A call with its retries, without the delays between them. */
async function callWithRetries() {
  const attempts: Attempt[] = [];
  const delays: number[] = [];
  for (;;) {
    const result = await attempt();
    const after = afterAttempt(result, attempts);
    if (after.next === 'end') return { result: after.result, attempts, delays };
    delays.push(after.delayMs);
    attempts.push(attemptOf(result, TIMES));
  }
}

/** Silence and endless tool calls need no repetition. */
const FAULTS = FAULTY_AGENT_NAMES.filter((name) => FAULTY_AGENTS[name].code !== undefined);
const codeOf = (name: FaultyAgentName) => FAULTY_AGENTS[name].code!;
const BLAMED = FAULTS.filter((name) => FAILURES[codeOf(name)][0] !== 'infrastructure');

describe('agent that answers a turn and then breaks the protocol in every attempt', () => {
  it.each(BLAMED)('%s: the call has failed', async (name) => {
    agent = await startFaultyAgent(name);
    const { result, attempts } = await callWithRetries();
    expect(attempts.map(({ outcome, failureCode }) => [outcome, failureCode])).toEqual(
      Array(2).fill(['error', codeOf(name)]),
    );
    expect(result).toMatchObject({
      outcome: 'failed',
      answeredTurns: 1,
      failure: { code: codeOf(name), fault: 'agent', retryable: false },
      end: { by: 'tester', code: 'failure' },
    });
    expect(result.reason).toContain(FAILURES[codeOf(name)][2]);
    expect(result.reason).toContain(agent.url);
    expect(JSON.stringify([result, attempts])).not.toContain(KEY.slice(-12));
  });

  it('has failed also if each attempt breaks in another way, and the reason names all of them', async () => {
    const faults: FaultyAgentName[] = ['stall', 'error-object', 'gateway-page'];
    agent = await startFaultyAgent(() => faults.shift()!);
    const { result } = await callWithRetries();
    expect(result).toMatchObject({ outcome: 'failed', failure: { code: 'http_status', fault: 'agent' } });
    expect(result.reason).toMatch(
      /^First attempt: .* not complete in time .*; second attempt: .*The model is overloaded.*; third attempt: .*502/,
    );
  });

  it('has failed at once if it stays silent', async () => {
    agent = await startFaultyAgent('silence');
    const { result, attempts } = await callWithRetries();
    expect(attempts).toEqual([]);
    expect(result).toMatchObject({ outcome: 'failed', failure: null, end: { code: 'agent_silent' } });
  });

  it('is an error if the agent limits the rate, and the next attempt waits as long as it asks', async () => {
    agent = await startFaultyAgent('status-429');
    const { result, delays } = await callWithRetries();
    expect(result).toMatchObject({ outcome: 'error', failure: { code: 'rate_limited', retryAfterMs: 7_000 } });
    expect(result.reason).toBe(`The agent is rate-limiting requests: HTTP 429 (${agent.url}); it said "Slow down.".`);
    expect(delays).toEqual([7_000, 7_000]);
  });

  it('waits until the date of a Retry-After', async () => {
    agent = await startFaultyAgent('status-503');
    const { delays } = await callWithRetries();
    for (const delay of delays) {
      expect(delay).toBeGreaterThan(27_000);
      expect(delay).toBeLessThanOrEqual(30_000);
    }
    expect(delays).toHaveLength(2);
  });
});

describe('agent that has not answered a turn', () => {
  it.each(FAULTS)('%s: is blamed only for what no wrong address or network can cause', async (name) => {
    agent = await startFaultyAgent(name, { goodTurns: 0 });
    const { result } = await callWithRetries();
    const isAgents = FAILURES[codeOf(name)][0] === 'agent_if_repeated';
    expect(result).toMatchObject({ outcome: isAgents ? 'failed' : 'error', failure: { code: codeOf(name) } });
  });
});

describe('reason of a failure', () => {
  const reasonOf = async (name: FaultyAgentName, options?: Partial<ChatCompletionsOptions>) => {
    agent = await startFaultyAgent(name);
    return (await attempt(options)).reason;
  };

  it.each<[FaultyAgentName, RegExp]>([
    ['gateway-page', /HTTP 502 \(SETTING\); it said "<html> <head><title>502 Bad Gateway<\/title><\/head> .*"\.$/],
    ['gzip-error', /HTTP 500 \(SETTING\); it said "\{"error": "The tool server is down"\}"\.$/],
    ['status-400', /HTTP 400 \(SETTING\); it said "\{"error": "context_length_exceeded"\}"\.$/],
    ['malformed-stream', /a part of it is not JSON \(SETTING, HTTP 200\); it said "\{"choices": \[\{"delta":"\.$/],
    ['error-object', /The model is overloaded \(SETTING, HTTP 200\); it said "\{"error":/],
    ['cut', /The agent's response was cut off \(SETTING, HTTP 200\); it said "data: .*Just a/],
    ['stall', /not complete in time \(SETTING, HTTP 200\); it said "data: .*Just a/],
    ['no-response', /Could not connect to the agent: the connection was closed without a response \(SETTING\)\.$/],
    ['hang', /not complete in time \(SETTING\)\.$/],
    ['status-204', /it is empty \(SETTING, HTTP 204\); it said nothing\.$/],
    ['redirect', /HTTP 307 to https:\/\/login\.example\.com \(SETTING\); it said nothing\.$/],
    ['invalid-utf8', /it is not UTF-8 \(SETTING, HTTP 200\); it said "data:\uFFFD+"\.$/],
  ])('%s: names the address, the status and what the agent said', async (name, expected) => {
    expect(await reasonOf(name, { shownUrl: 'SETTING' })).toMatch(expected);
  });

  it('contains at most 500 characters of a body that is endless, and does not wait for more', async () => {
    const begun = performance.now();
    const reason = await reasonOf('endless-error', { answerTimeoutMs: 30_000 });
    expect(reason.length).toBeGreaterThan(500);
    expect(reason.length).toBeLessThan(700);
    expect(await (await agent.close(), reasonOf('dripping-error', { answerTimeoutMs: 30_000 }))).toMatch(
      /"Wait\.+"\.$/,
    );
    expect(performance.now() - begun).toBeLessThan(25_000);
  });

  it('does not contain the credentials that the agent repeats, however they are written', async () => {
    const reason = await reasonOf('status-500');
    expect(reason).toContain('"AUTHORIZATION":"Bearer [redacted]","basic":"');
    expect(reason).not.toMatch(/0123456789|abcdef/);
    for (const offset of ['', 'u', 'us']) {
      const encoded = Buffer.from(`${offset}user:${KEY}`).toString('base64').slice(8, 28);
      expect(reason).not.toContain(encoded);
    }
  });

  it('shows the URL without its secrets', async () => {
    agent = await startFaultyAgent('status-400');
    const { reason, exchange } = await attempt({ url: `${agent.url}?code=topsecretvalue&to={phoneNumber}` });
    expect(exchange?.url).toBe(agent.url);
    expect(reason).toContain(`(${agent.url})`);
    expect(reason).not.toContain('topsecret');
  });
});

describe('record of the exchange', () => {
  it('has the id that the agent received, and each request with its times', async () => {
    agent = await startFaultyAgent('malformed-stream');
    const { exchange, timeline } = await attempt({ shownUrl: 'SETTING' });
    const id = agent.requests[0]!.headers['x-call-id'] as string;
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(agent.requests.map(({ headers }) => headers['x-call-id'])).toEqual([id, id]);
    const time = expect.any(Number);
    expect(exchange).toEqual({
      protocol: 'chat-completions',
      url: 'SETTING',
      callId: id,
      requests: [
        { turn: 1, sentAtMs: time, status: 200, firstByteMs: time, tokenTimesMs: [time], finishReason: 'stop' },
        {
          turn: 2,
          sentAtMs: time,
          status: 200,
          firstByteMs: time,
          tokenTimesMs: [time],
          finishReason: null,
          unreadable: '{"choices": [{"delta":',
        },
      ],
      omittedRequests: 0,
    });
    const times = exchange!.requests.flatMap(({ sentAtMs, firstByteMs, tokenTimesMs }) => [
      sentAtMs!,
      firstByteMs!,
      ...tokenTimesMs,
    ]);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBe(timeline[0]!.start);
    expect(times[2]).toBe(timeline[1]!.start);
  });

  it('has the request that was in progress when the call ended', async () => {
    agent = await startFaultyAgent('hang');
    const transport = chatCompletions({ client, url: agent.url, assistantId: 'a1' });
    const script = [{ say: 'Hello.' }, { say: 'And now?' }];
    const { exchange } = await call({ script, maxDurationSeconds: 1 }, { transport, clock: new RealClock() });
    expect(exchange?.requests).toMatchObject([{ status: 200 }, { status: null, firstByteMs: null, tokenTimesMs: [] }]);
  });

  it('is new for every attempt, unless the id is given', async () => {
    agent = await startFaultyAgent('status-400');
    const given = '0c9a5e0e-6f0b-4a58-9c4f-2b1f8e1f7a55';
    const ids = [await attempt(), await attempt(), await attempt({ callId: given })].map(
      ({ exchange }) => exchange!.callId,
    );
    expect(new Set(ids).size).toBe(3);
    expect(ids[2]).toBe(given);
    expect([...new Set(agent.requests.map(({ headers }) => headers['x-call-id']))]).toEqual(ids);
  });
});
