import type { OutboundClient } from '../../../../outbound-http/index.js';
import type { AgentEndpoint } from '../../modules/endpoint.js';
import { elevenlabs, elevenlabsText } from './index.js';
import { SIGNED_URL } from '../../../../../test/simulators/elevenlabs/double/contract.js';
import { StubClient } from '../testing/stub-client.js';

const KEY = 'sk_1234567890abcdef';
const SIGNATURE = '7Kda3xYWtZDeRCZaUZKa';
const body = (signed_url: unknown) => JSON.stringify({ signed_url });

const dial = (client: OutboundClient, endpoint: Partial<AgentEndpoint> = {}, assistantId = 'agent_01') =>
  elevenlabs
    .session(
      {
        ...{ protocol: 'elevenlabs', url: elevenlabs.defaultUrl!, headers: {}, firstSpeaker: null, options: {} },
        ...{ apiKey: KEY, ...endpoint },
      },
      { client, assistantId, phoneNumber: '', workspaceId: 'w-1', callId: 'c-1' },
    )
    .dial({ signal: new AbortController().signal, onStep: () => undefined });

const failureOf = (client: OutboundClient, endpoint: Partial<AgentEndpoint> = {}) =>
  dial(client, endpoint).then(
    () => undefined,
    (error: { failure: { code: string; message: string; retryAfterMs?: number } }) => error.failure,
  );

describe('the signed address of a conversation', () => {
  it('is asked for at the vendor over TLS, with the key in its header and nowhere else', async () => {
    const client = new StubClient(body(SIGNED_URL));
    const { socket, state } = await dial(client);
    const [{ url, method, headers }] = client.requests as [StubClient['requests'][0]];
    expect({ url, method, headers }).toEqual({
      url: 'https://api.elevenlabs.io/v1/convai/conversation/get-signed-url?agent_id=agent_01',
      method: 'GET',
      headers: { 'xi-api-key': KEY, 'x-call-id': 'c-1' },
    });
    // A foreign address gets nothing of ours, and is not shown.
    expect(socket).toEqual({
      ...{ url: SIGNED_URL, headers: {} },
      shownUrl: 'wss://api.elevenlabs.io, the signed address',
    });
    expect(state.secrets).toEqual(expect.arrayContaining([KEY, SIGNATURE]));
    expect(JSON.stringify(state.initiation)).not.toMatch(new RegExp(`${KEY}|${SIGNATURE}`));
  });

  it.each([
    ['https://api.eu.residency.elevenlabs.io', 'https://api.eu.residency.elevenlabs.io/v1/convai'],
    ['https://gateway.example.com/elevenlabs/', 'https://gateway.example.com/elevenlabs/v1/convai'],
  ])('is asked for at the base of the API: %s', async (url, begin) => {
    const client = new StubClient(body(SIGNED_URL));
    await dial(client, { url, headers: { 'x-tenant': 'bella' } }, 'a&b=c/d');
    expect(client.requests[0]!.url).toBe(`${begin}/conversation/get-signed-url?agent_id=a%26b%3Dc%2Fd`);
    expect(client.requests[0]!.headers).toMatchObject({ 'x-tenant': 'bella' });
  });

  it('is not requested from the vendor without TLS', async () => {
    const client = new StubClient(body(SIGNED_URL));
    const failure = await failureOf(client, { url: 'http://api.us.elevenlabs.io.' });
    expect(failure).toMatchObject({ code: 'connection_failed', retryable: false });
    expect(failure!.message).toContain('over TLS only');
    expect(client.requests).toEqual([]);
  });

  it.each([
    ['without TLS beyond this machine', body('ws://api.elevenlabs.io/v1/convai/conversation?s=12345678')],
    ['over another scheme', body('https://api.elevenlabs.io/?conversation_signature=12345678')],
    ['with a password', body('wss://user:secret12@api.elevenlabs.io/')],
    ['that is none', body('no address: 12345678')],
    ['that is missing', '{}'],
    ['in what is not JSON', '<p>12345678</p>'],
    ['in JSON without an object', 'null'],
  ])('is not dialled %s, and is not shown', async (_what, answer) => {
    const failure = await failureOf(new StubClient(answer));
    expect(failure).toMatchObject({ code: 'bad_response', fault: 'infrastructure' });
    expect(failure!.message).toContain('no signed_url that begins with wss://');
    expect(failure!.message).not.toMatch(/12345678|secret12/);
  });

  it.each([
    [401, 'invalid_api_key', 'Invalid API key', 'platform_refused', 'check the apiKey'],
    [401, 'quota_exceeded', 'You have insufficient quota', 'platform_refused', 'check the credit and the plan'],
    [402, 'payment_required', 'No subscription', 'platform_refused', 'check the credit and the plan'],
    [403, 'missing_permissions', 'Missing permission convai_write', 'platform_refused', 'check the apiKey'],
    [404, 'document_not_found', 'Document agent_01 not found', 'platform_refused', 'check the assistantId'],
    [422, 'invalid', 'agent_id', 'platform_refused', 'check the assistantId'],
    [429, 'too_many_concurrent_requests', 'Too many concurrent requests', 'rate_limited', 'raise the limit'],
    // elevenlabs/elevenlabs-python#351, elevenlabs/elevenlabs-python#611: failures of the platform, which are not the agent's.
    [500, 'something_went_wrong', 'We are sorry, something went wrong', 'http_status', ''],
    [503, 'system_busy', 'Busy', 'http_status', ''],
    [302, 'moved', 'Moved', 'redirect', ''],
  ])('is refused with HTTP %i %s: its own words and a cure', async (status, code, message, expected, cure) => {
    const client = new StubClient(JSON.stringify({ detail: { status: code, message } }), status, {
      'retry-after': '7',
    });
    const failure = await failureOf(client);
    expect(failure).toMatchObject({ code: expected, status });
    expect(failure!.message).toContain(message);
    expect(failure!.message).toContain(cure);
    if (status === 429) expect(failure!.retryAfterMs).toBe(7_000);
  });
});

describe('the options of a connection with ElevenLabs', () => {
  it.each([
    ['variables', { name: 'Rossi', guests: 4, vip: true }, undefined],
    ['variables', [], 'must be an object'],
    ['variables', { a: null }, 'must have strings, numbers and booleans as values: a has another one'],
    [
      'variables',
      Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`v${n}`, 1])),
      'must have at most 100 variables',
    ],
    ['variables', { a: 'x'.repeat(70_000) }, 'must have at most 65536 characters of JSON'],
    ['line', 'telephone', undefined],
    ['line', 8_000, 'must be wide or telephone'],
    ['userActivity', false, undefined],
    ['userActivity', 'no', 'must be true or false'],
    ['textOnly', 'agent', undefined],
    ['textOnly', true, 'must be override or agent'],
  ])('are checked: %s %j', (name, value, violation) => {
    const { violation: check } = { ...elevenlabs.options, ...elevenlabsText.options }[name]!;
    expect(check(value)).toBe(violation);
  });

  it('choose the rate of the line', () => {
    expect([{}, { line: 'telephone' }].map((options) => elevenlabs.lineRate(options))).toEqual([16_000, 8_000]);
  });

  it('and the two protocols name each other', () => {
    expect([elevenlabs.twin, elevenlabsText.twin]).toEqual([elevenlabsText.name, elevenlabs.name]);
  });
});
