import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboundClient } from '../../../../outbound-http/index.js';
import { OutboundClient as Client } from '../../../../outbound-http/index.js';
import { testConnection } from '../../../connection-test/test-connection.js';
import { type Failure, failure } from '../../../timeline/failure.js';
import type { JsonValue } from '../../../timeline/text.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import { StubClient } from '../testing/stub-client.js';
import { vapi, vapiChat } from './index.js';
import { CONTROL_URL, createdCall, TRANSPORT_URL } from '../../../../../test/simulators/vapi/contract.js';
import { audio, says } from '../../../../../test/simulators/vapi/scripted.js';
import { client } from '../../../../../test/simulators/vapi/messages.js';
import { VapiServer, type VapiServerOptions } from '../../../../../test/simulators/vapi/server.js';

const KEY = '4f6a1b2c-1234-4c56-9abc-def012345678';
const ATTEMPT = '0b7f8a52-77d1-4a0e-8b5e-1f8d0a6c9e21';
const ID = createdCall().id;
const { signal } = new AbortController();
const MANY = Array.from({ length: 100 }, (_, n) => `a=12345678-secret-${n}`).join('&');
const LEDGER = { identified: async () => undefined, paid: async () => undefined };

const endpointOf = (more: Partial<AgentEndpoint> = {}): AgentEndpoint => ({
  ...{ protocol: 'vapi', url: vapi.defaultUrl!, headers: {}, firstSpeaker: null, options: {}, apiKey: KEY, ...more },
});
const callOf = (client: OutboundClient, more: Partial<AgentCall> = {}): AgentCall => ({
  ...{ client, assistantId: 'assistant_01', phoneNumber: '', workspaceId: 'w-1', callId: ATTEMPT, ...more },
});
const dial = (client: OutboundClient, endpoint: Partial<AgentEndpoint> = {}, call: Partial<AgentCall> = {}) =>
  vapi
    .session(endpointOf(endpoint), callOf(client, call))
    .dial({ signal: new AbortController().signal, onStep: () => undefined });
const failureOf = (done: Promise<unknown>) =>
  done.then(
    () => undefined,
    (error: { failure: Failure }) => error.failure,
  );
const answers = (more: object = {}) => new StubClient(JSON.stringify(createdCall(more)), 201);
const bodyOf = (client: StubClient, index = 0): unknown => JSON.parse(client.requests[index]!.body as string);
const loopback = () => new Client({ allowedNetworks: ['127.0.0.0/8'] });

describe('the call that is created', () => {
  it('has the mark of the attempt and nothing that alters the assistant; the key is in its header alone', async () => {
    const client = answers();
    const { socket, state, found } = await dial(client);
    const [{ url, method, headers }] = client.requests as [StubClient['requests'][0]];
    expect({ url, method, headers }).toEqual({
      url: 'https://api.vapi.ai/call',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}`, 'x-call-id': ATTEMPT },
    });
    const format = { format: 'pcm_s16le', container: 'raw', sampleRate: 16_000 };
    expect(bodyOf(client)).toEqual({
      ...{ assistantId: 'assistant_01', name: `vat:${ATTEMPT}` },
      transport: { provider: 'vapi.websocket', audioFormat: format },
    });
    // A foreign address gets nothing of ours, and is not shown.
    const shownUrl = 'wss://api.vapi.ai, the transport of the call';
    expect(socket).toEqual({ url: TRANSPORT_URL, headers: {}, shownUrl });
    expect(state.secrets).toEqual(expect.arrayContaining([KEY, ID, new URL(CONTROL_URL).pathname.split('/')[1]]));
    expect(found.findings).toEqual([]);
  });

  it('has the format of the line, the variables above those of the connection, and the version', async () => {
    const client = answers();
    const call = { variables: { name: 'Rossi', people: 4 }, assistantVersion: 'v3' };
    await dial(client, { options: { line: 'telephone', variables: { name: 'Bianchi' } } }, call);
    expect(bodyOf(client)).toMatchObject({
      assistantOverrides: { variableValues: { name: 'Rossi', people: 4 } },
      assistantVersion: 'v3',
      transport: { audioFormat: { format: 'mulaw', sampleRate: 8_000 } },
    });
    const other = answers();
    await dial(other, { options: { variables: { name: 'Bianchi' } } });
    expect(bodyOf(other)).toMatchObject({ assistantOverrides: { variableValues: { name: 'Bianchi' } } });
  });

  it('is in the ledger before it is connected, and not carried out if that fails', async () => {
    const placed: unknown[] = [];
    const ledger = {
      placed: async (...given: unknown[]) => void placed.push(given),
      ...LEDGER,
    };
    await dial(answers(), {}, { ledger });
    expect(placed).toEqual([[{ id: ID, controlUrl: CONTROL_URL }, ID]]);
    const broken = { ...ledger, placed: () => Promise.reject(new Error('its line was lost')) };
    await expect(dial(answers(), {}, { ledger: broken })).rejects.toThrow('its line was lost');
  });

  it('without controlUrl is a warning', async () => {
    const { found } = await dial(answers({ monitor: {} }));
    expect(found.findings).toMatchObject([{ code: 'no_control', severity: 'warning' }]);
  });

  it('is not created at the vendor without TLS', async () => {
    const client = answers();
    const failure = await failureOf(dial(client, { url: 'http://api.vapi.ai.' }));
    expect(failure).toMatchObject({ code: 'connection_failed', retryable: false });
    expect(client.requests).toEqual([]);
  });

  it.each([
    ['without TLS beyond this machine', 'ws://api.vapi.ai/12345678-secret/transport'],
    ['over another scheme', 'https://api.vapi.ai/12345678-secret/transport'],
    ['with a password', 'wss://user:12345678-secret@api.vapi.ai/'],
    ['of enormous length', `wss://api.vapi.ai/12345678-secret${'0'.repeat(5_000)}`],
    ['with a hundred secrets', `wss://api.vapi.ai/?${MANY}`],
    ['that is none', 7],
  ])('is not dialled at an address %s, which is not shown; the call is ended', async (_what, websocketCallUrl) => {
    const client = answers({ transport: { websocketCallUrl } });
    const failure = await failureOf(dial(client));
    expect(failure).toMatchObject({ code: 'bad_response', fault: 'infrastructure' });
    expect(failure!.message).not.toContain('12345678');
    expect(client.requests.map(({ url }) => url)).toEqual(['https://api.vapi.ai/call', CONTROL_URL]);
    expect(client.requests[1]!.headers).toEqual({ 'content-type': 'application/json' });
  });

  it.each([
    ['an address on this machine', 'http://169.254.169.254/control'],
    ['no address', 'none'],
  ])('takes no controlUrl that is %s', async (_what, controlUrl) => {
    const { found } = await dial(answers({ monitor: { controlUrl } }));
    expect(found.findings).toMatchObject([{ code: 'no_control' }]);
  });

  it.each([
    ['no id', undefined],
    ['an id that no database takes', 'call\u0000-12345678'],
    ['an id that no address takes', 'call-\ud800'],
    ['an id that leads to another address', '..'],
  ])('is not carried out if its record has %s', async (_what, id) => {
    const placed = jest.fn(() => Promise.resolve());
    const failure = await failureOf(dial(answers({ id }), {}, { ledger: { ...LEDGER, placed } }));
    expect(failure).toMatchObject({ code: 'bad_response' });
    expect(placed).not.toHaveBeenCalled();
  });

  it('that is blocked by the limit on calls at once is ended before the next one, and tried again', async () => {
    const client = answers({ subscriptionLimits: { concurrencyBlocked: true } });
    const failure = await failureOf(dial(client));
    expect(failure).toMatchObject({ code: 'platform_busy', retryable: true });
    expect(client.requests.map(({ url }) => url)).toEqual(['https://api.vapi.ai/call', CONTROL_URL]);
    expect(bodyOf(client, 1)).toEqual({ type: 'end-call' });
    // With a record of paid calls, the owner of its capacity ends it.
    const placed: unknown[] = [];
    const ledger = { placed: async (handle: unknown) => void placed.push(handle), ...LEDGER };
    const other = answers({ subscriptionLimits: { concurrencyBlocked: true } });
    expect(await failureOf(dial(other, {}, { ledger }))).toMatchObject({ code: 'platform_busy' });
    expect([placed.length, other.requests.length]).toEqual([1, 1]);
  });
});

describe('refusals of Vapi', () => {
  it.each([
    [404, 'http_refused', 'not_ready'],
    [500, 'agent_status', 'http_status'],
    [503, 'http_status', 'http_status'],
  ] as const)("of a WebSocket with %d are not the agent's", (status, general, code) => {
    const session = vapi.session(endpointOf(), callOf(answers()));
    expect(session.refused!(failure(general, { status }))).toMatchObject({ code, status, retryable: true });
  });

  const said = (message: string, status: number) => JSON.stringify({ message, statusCode: status });

  it.each([
    [401, 'Invalid Key. Hot tip, you may be using the public key.', 'platform_refused', 'check the apiKey'],
    [403, 'Forbidden resource', 'platform_refused', 'check the apiKey'],
    [404, "Couldn't get assistant. a does not exist.", 'platform_refused', 'check the assistantId'],
    [400, 'assistantId must be a UUID', 'platform_refused', 'check the assistantId'],
    [402, 'Purchase more credits or upgrade your plan.', 'platform_refused', 'check the credit'],
    [400, 'Wallet balance is -0.2. Purchase More Credits.', 'platform_refused', 'check the credit'],
    [400, 'Over Concurrency Limit.', 'rate_limited', 'limit of the organisation'],
    [429, 'Too many requests', 'rate_limited', 'limit of the organisation'],
    [503, 'Try later', 'http_status', 'HTTP 503'],
    // status.vapi.ai/incident/901977: the database of the platform was down for all of its customers.
    [500, 'Internal Server Error', 'http_status', 'HTTP 500'],
  ])('%d "%s" is %s, with a cure', async (status, message, code, cure) => {
    for (const module of [vapi, vapiChat]) {
      const client = new StubClient(said(message, status), status, { 'retry-after': '7' });
      const failure = module.medium === 'voice' ? await failureOf(dial(client)) : await chatFailure(client);
      expect(failure).toMatchObject({ code, fault: 'infrastructure', status, retryAfterMs: 7_000 });
      expect(failure!.message).toContain(cure);
      expect(failure!.message).toContain(message.slice(0, 12));
      expect(failure!.retryable).toBe(code !== 'platform_refused');
    }
  });

  const chatFailure = (client: OutboundClient) =>
    new Promise<Failure>((resolve) => {
      const transport = vapiChat.transport(endpointOf({ protocol: 'vapi-chat' }), callOf(client));
      const now = () => performance.now();
      const clock = { now, awaitExternal: <T>(done: Promise<T>) => done } as never;
      const line = transport.connect({ clock, emit: (event) => event.type === 'failure' && resolve(event.failure) });
      void line.say('Hello');
    });
});

describe('the end of a call from elsewhere', () => {
  const doubles: VapiServer[] = [];
  afterEach(async () => {
    for (const double of doubles.splice(0)) await double.stop();
  });

  async function placed(options: VapiServerOptions = {}) {
    const double = await VapiServer.start({ apiKey: KEY, ...options });
    doubles.push(double);
    const client = loopback();
    const endpoint = endpointOf({ url: double.url });
    const handles: JsonValue[] = [];
    const ledger = { placed: async (handle: JsonValue) => void handles.push(handle), ...LEDGER };
    await vapi.session(endpoint, callOf(client, { ledger })).dial({ signal, onStep: () => undefined });
    return { double, handle: handles[0]!, request: { endpoint, client, signal } };
  }

  it('is asked for at controlUrl, without the key, and may be repeated', async () => {
    const { double, handle, request } = await placed();
    expect(double.openCalls).toBe(1);
    await vapi.end!(handle, request);
    await vapi.end!(handle, request);
    expect([double.openCalls, double.ends]).toEqual([0, ['control']]);
    const control = double.requests.filter(({ url }) => url.startsWith('/control-host/'));
    expect(control.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
    expect(double.requests.map(({ method }) => method)).not.toContain('DELETE');
  });

  it.each(['none', 'broken'] as const)('fails while the call is open if controlUrl is %s', async (control) => {
    const { double, handle, request } = await placed({ control, validMs: 300 });
    expect(await failureOf(vapi.end!(handle, request))).toMatchObject({ code: 'platform_unended' });
    while (double.openCalls > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    await vapi.end!(handle, request);
  });

  it('finds the call by the mark of the attempt while it may be open', async () => {
    const { handle, request } = await placed();
    expect(await vapi.find!(ATTEMPT, request)).toEqual(handle);
    expect(await vapi.find!('another', request)).toBeNull();
    await vapi.end!(handle, request);
    expect(await vapi.find!(ATTEMPT, request)).toBeNull();
  });

  it('a connection test warns of a call without controlUrl, and says what to do about refusals', async () => {
    const double = await VapiServer.start({ apiKey: KEY, control: 'none', assistantId: 'assistant_01' });
    doubles.push(double);
    const test = (more: Partial<AgentEndpoint>, assistantId = 'assistant_01') =>
      testConnection(
        endpointOf({ url: double.url, firstSpeaker: 'caller', ...more }),
        { ...callOf(loopback()), assistantId },
        10_000,
      );
    const { ok, findings } = await test({});
    expect({ ok, codes: findings.map(({ code }) => code) }).toEqual({ ok: true, codes: ['no_control'] });
    const failed = async (...given: Parameters<typeof test>) =>
      (await test(...given)).steps.find(({ status }) => status === 'failed');
    expect(await failed({ apiKey: 'another-key' })).toMatchObject({
      step: 'accepted',
      cure: 'Check the apiKey of the agent: it must be a private key of the organisation.',
    });
    expect(await failed({}, 'unknown')).toMatchObject({
      step: 'accepted',
      cure: expect.stringContaining('Check the assistantId') as string,
    });
  });
});

describe('the connection test of a voice call', () => {
  const tested = async (script: VapiServerOptions['script'] & {}) => {
    const double = await VapiServer.start({ apiKey: KEY, script });
    const endpoint = endpointOf({ url: double.url });
    const { ok, steps, findings } = await testConnection(endpoint, callOf(loopback()), 15_000);
    // The end of the call arrives after the test.
    for (let tries = 0; tries < 100 && double.ends.length === 0; tries++) await sleep(20);
    await double.stop();
    return { ok, findings, words: steps.at(-1)!, isHeard: steps.at(-2)!.status, ends: double.ends };
  };

  it('says which message has the words of the agent, and what to do if none comes', async () => {
    const [generated, played, silent] = await Promise.all([
      tested({ onStart: [{ send: says('t1', 'Good evening. ', 500) }] }),
      tested({ onStart: [{ send: [client.spoken('Good evening.'), ...audio(500)] }] }),
      tested({ onStart: [{ send: audio(500) }] }),
    ]);
    expect(generated).toMatchObject({
      ...{ ok: true, findings: [], ends: [expect.stringMatching(/^(message|control)$/) as string] },
      words: { step: 'words', status: 'passed', message: expect.stringMatching(/, by model-output$/) as string },
    });
    expect(generated.words.said).toMatch(/^Good/);
    expect(played.words).toMatchObject({
      ...{ status: 'passed', said: 'Good evening.' },
      message: 'The platform reports what the agent says, by assistant.speechStarted',
    });
    expect(silent).toMatchObject({
      ...{ ok: true, isHeard: 'passed' },
      words: { step: 'words', status: 'skipped', said: null, cure: expect.stringMatching(/clientMessages/) as string },
    });
  }, 60_000);
});

describe('the assistants of an account', () => {
  const assistants = [
    {
      ...{ id: 'a1', name: 'Bella Vista', transcriber: { language: 'it' } },
      model: { provider: 'openai', messages: [{ role: 'system', content: 'You take bookings.' }] },
    },
    { id: 'a2', transcriber: { language: 'multi' }, model: null },
    { name: 'without an id' },
  ];
  const phoneNumbers = [{ id: 'p1', number: '+15550100', assistantId: 'a1' }];

  it('are described with what they say of themselves, null for the rest', async () => {
    const double = await VapiServer.start({ apiKey: KEY, assistants, phoneNumbers });
    const account = { client: loopback(), url: double.url, apiKey: KEY };
    const bare = { language: null, phoneNumber: null, phoneNumberId: null, prompt: null };
    const listed = await vapi.assistants!(account, { offset: 0, limit: 25 }, signal);
    const second = await vapi.assistants!(account, { offset: 1, limit: 1 }, signal);
    await double.stop();
    expect(listed).toEqual({
      items: [
        {
          ...{ assistantId: 'a1', name: 'Bella Vista', language: 'it', prompt: 'You take bookings.' },
          ...{ phoneNumber: '+15550100', phoneNumberId: 'p1' },
        },
        { assistantId: 'a2', name: null, ...bare },
      ],
      total: 2,
    });
    expect(second).toMatchObject({ items: [{ assistantId: 'a2' }], total: 2 });
    expect(vapiChat.assistants).toBe(vapi.assistants);
  });

  it.each(['no JSON', '{"assistants":[]}'])('are not listed if the answer is %s', async (body) => {
    const account = { client: new StubClient(body), url: vapi.defaultUrl!, apiKey: KEY };
    const failure = await failureOf(vapi.assistants!(account, { offset: 0, limit: 1 }, signal));
    expect(failure).toMatchObject({ code: 'bad_response' });
  });
});
