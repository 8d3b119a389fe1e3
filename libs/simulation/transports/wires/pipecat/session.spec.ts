import { OutboundClient } from '../../../../outbound-http/index.js';
import type { Failure } from '../../../timeline/failure.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import { registry } from '../../modules/registry.js';
import { StubClient } from '../testing/stub-client.js';
import { pipecat } from './index.js';

const KEY = 'pk_1234567890abcdef';
const START = 'https://bots.example.com/start';

const dial = (client: OutboundClient, endpoint: Partial<AgentEndpoint> = {}, call: Partial<AgentCall> = {}) =>
  pipecat
    .session(
      { protocol: 'pipecat', url: START, headers: {}, firstSpeaker: null, options: {}, apiKey: KEY, ...endpoint },
      { client, assistantId: 'booking', phoneNumber: '', workspaceId: 'w-1', callId: 'c-1', ...call },
    )
    .dial({ signal: new AbortController().signal, onStep: () => undefined });
const failureOf = (done: Promise<unknown>) =>
  done.then(
    () => undefined,
    (error: { failure: Failure }) => error.failure,
  );
const answers = (answer: unknown, status = 200) => new StubClient(JSON.stringify(answer), status);
const bodyOf = (client: StubClient): unknown => JSON.parse(client.requests[0]!.body as string);

describe('the WebSocket of a bot', () => {
  it('is dialled with the key, the headers and the id of the call, and its token is not shown', async () => {
    const headers = { 'x-tenant': 'roma-1234' };
    const url = 'ws://127.0.0.1:7860/ws-client/eyJleHAiOjE3.0123456789abcdef?a={assistantId}';
    const client = answers({});
    const { socket, state } = await dial(client, { url, headers });
    expect(socket).toEqual({
      url: url.replace('{assistantId}', 'booking'),
      headers: { authorization: `Bearer ${KEY}`, 'x-tenant': 'roma-1234', 'x-call-id': 'c-1' },
      shownUrl: 'ws://127.0.0.1:7860/ws-client/[redacted]',
    });
    expect(state.secrets).toEqual(expect.arrayContaining([KEY, 'roma-1234', 'eyJleHAiOjE3.0123456789abcdef']));
    expect(client.requests).toEqual([]);
  });

  it('gets a header of the connection in place of the key', async () => {
    const headers = { authorization: 'Bearer of-the-connection' };
    const { socket } = await dial(answers({}), { url: 'wss://bots.example.com/ws', headers });
    expect(socket!.headers).toEqual({ ...headers, 'x-call-id': 'c-1' });
  });
});

describe('a bot that is started by a request', () => {
  it('is asked as the runner of Pipecat is, and dialled without any of our headers', async () => {
    const client = answers({
      wsUrl: 'wss://eu.example.net/ws/generic/a.b?x=1',
      token: 'eyJ.0123+/456789',
      sessionId: 's',
    });
    const { socket, state } = await dial(client, { options: { variables: { name: 'Bianchi' } } });
    expect(client.requests).toMatchObject([
      {
        ...{ url: START, method: 'POST', timeoutMs: 30_000 },
        headers: { authorization: `Bearer ${KEY}`, 'x-call-id': 'c-1', 'content-type': 'application/json' },
      },
    ]);
    expect(bodyOf(client)).toEqual({ transport: 'websocket', body: { name: 'Bianchi' } });
    expect(socket).toEqual({
      url: 'wss://eu.example.net/ws/generic/a.b?x=1&token=eyJ.0123%2B%2F456789',
      headers: {},
      shownUrl: 'wss://eu.example.net, which the answer of its start names',
    });
    expect(state.secrets).toEqual(expect.arrayContaining([KEY, 'eyJ.0123%2B%2F456789', 'eyJ.0123+/456789']));
  });

  it('takes a body, other paths of the answer and another limit, and variables above those of the connection', async () => {
    const client = answers({ data: { connect: { url: 'ws://localhost:7860/ws-client' } }, auth: 'tok' });
    const start = {
      socket: 'data.connect.url',
      token: 'auth',
      body: { createDailyRoom: false, body: { a: 1, name: 'x' } },
    };
    const options = {
      start,
      readyWithinMs: 60_000,
      rate: 8_000,
      rtvi: 'off',
      functionCalls: 'shown',
      variables: { name: 'y' },
    };
    const { socket, state } = await dial(client, { options }, { variables: { name: 'Rossi' }, mockedTools: ['book'] });
    expect(bodyOf(client)).toEqual({ transport: 'websocket', createDailyRoom: false, body: { a: 1, name: 'Rossi' } });
    expect(client.requests[0]!.timeoutMs).toBe(60_000);
    expect(socket!.url).toBe('ws://localhost:7860/ws-client?token=tok');
    expect(state).toMatchObject({ rate: 8_000, speaksRtvi: false, showsTools: true, mockedTools: ['book'] });
  });

  it.each([
    ['none', {}],
    ['an address without TLS', { wsUrl: 'ws://bots.example.com/12345678-secret' }],
    ['an address of HTTP', { wsUrl: 'https://bots.example.com/12345678-secret' }],
    ['an address with a password', { wsUrl: 'wss://a:12345678-secret@bots.example.com/' }],
    ['a number', { wsUrl: 7 }],
    ['a list', ['wss://bots.example.com/12345678-secret']],
    ['null', null],
  ])('whose answer names %s is not dialled, and the answer is not shown', async (_what, answer) => {
    const failure = await failureOf(dial(answers(answer)));
    expect(failure).toMatchObject({ code: 'bad_response', fault: 'infrastructure' });
    expect(failure!.message).not.toContain('12345678');
  });

  it('whose answer names a private address is refused by the filter like any other address', async () => {
    const { socket } = await dial(answers({ wsUrl: 'wss://169.254.169.254/latest' }));
    await expect(new OutboundClient().addressesOf(socket!.url)).rejects.toThrow();
  });

  it.each([
    [401, 'platform_refused', 'check the apiKey'],
    [404, 'platform_refused', 'check the url'],
    [422, 'platform_refused', 'check the body'],
    [429, 'rate_limited', ''],
    [503, 'http_status', ''],
    [500, 'http_status', ''],
  ])('that refuses with %i is an error, never the fault of the agent', async (status, code, cure) => {
    const failure = await failureOf(dial(answers({ detail: 'no' }, status)));
    expect(failure).toMatchObject({ code, fault: 'infrastructure', message: expect.stringContaining(cure) as string });
  });

  it('is sent no key at the vendor without TLS', async () => {
    const client = answers({});
    for (const url of [
      'http://api.pipecat.daily.co/v1/public/a/start',
      'ws://eu.api.pipecat.daily.co./ws/generic/a.b',
    ]) {
      const failure = await failureOf(dial(client, { url }));
      expect(failure).toMatchObject({ code: 'connection_failed', retryable: false });
    }
    expect(client.requests).toEqual([]);
  });
});

describe('the options of Pipecat', () => {
  const { options } = pipecat;

  it.each<[string, unknown, string | undefined]>([
    ['rate', 16_000, undefined],
    ['rate', 44_100, 'must be 8000, 16000, 24000'],
    ['rtvi', 'off', undefined],
    ['rtvi', false, 'must be on or off'],
    ['functionCalls', 'shown', undefined],
    ['functionCalls', true, 'must be shown'],
    ['readyWithinMs', 5_000, undefined],
    ['readyWithinMs', 60_001, 'must be a whole number from 5000 to 60000'],
    ['readyWithinMs', 5_000.5, 'must be a whole number from 5000 to 60000'],
    ['start', { socket: 'data.wsUrl', token: 'data.token', body: { a: [1] } }, undefined],
    ['start', {}, undefined],
    ['start', 'https://bots.example.com', 'must be an object'],
    ['start', { url: 'https://bots.example.com' }, 'must have socket, token and body only, and has url'],
    ['start', { socket: '$.wsUrl' }, 'must have paths such as data.wsUrl as socket and token'],
    ['start', { token: 7 }, 'must have paths such as data.wsUrl as socket and token'],
    ['start', { body: [] }, 'must have an object as body'],
    ['start', { body: { a: 'x'.repeat(70_000) } }, 'must have at most 65536 characters of JSON as body'],
  ])('%s is checked: %j', (name, value, violation) => {
    expect(options[name]!.violation(value)).toBe(violation);
  });

  it('decide what the bot reports: function calls only where they are shown, nothing without RTVI', () => {
    const provided = (given: object) => registry([pipecat]).of('pipecat', { ...given }).provides;
    expect(provided({})).toEqual({ words: true, keys: true, toolCalls: 'none' });
    expect(provided({ functionCalls: 'shown' })).toEqual({ words: true, keys: true, toolCalls: 'answered' });
    expect(provided({ functionCalls: 'shown', rtvi: 'off' })).toEqual({ words: false, keys: false, toolCalls: 'none' });
    expect(registry([pipecat]).of('pipecat').provides).toEqual({ words: true, keys: true, toolCalls: 'answered' });
  });
});
