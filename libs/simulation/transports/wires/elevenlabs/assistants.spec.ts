import { OutboundClient } from '../../../../outbound-http/index.js';
import type { Failure } from '../../../timeline/failure.js';
import { elevenlabs, elevenlabsText } from './index.js';
import type { ListedAgent } from '../../../../../test/simulators/elevenlabs/double/account.js';
import { ElevenLabsServer } from '../../../../../test/simulators/elevenlabs/double/server.js';
import { StubClient } from '../testing/stub-client.js';

const KEY = 'sk_1234567890abcdef';
const { signal } = new AbortController();

describe('the assistants of an account', () => {
  const doubles: ElevenLabsServer[] = [];
  afterEach(async () => {
    for (const double of doubles.splice(0)) await double.stop();
  });

  async function serve(options: Parameters<typeof ElevenLabsServer.start>[0]): Promise<ElevenLabsServer> {
    const double = await ElevenLabsServer.start({ apiKey: KEY, ...options });
    doubles.push(double);
    return double;
  }

  const list = (
    { url }: Pick<ElevenLabsServer, 'url'>,
    { apiKey = KEY, offset = 0, limit = 25, client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] }) } = {},
  ) => elevenlabs.assistants!({ client, url, apiKey }, { offset, limit }, signal);

  const failureOf = (listed: Promise<unknown>) =>
    listed.then(
      () => undefined,
      (error: { failure: Failure }) => error.failure,
    );

  it('are described with what their agents say of themselves, null for the rest', async () => {
    const agents = [
      { id: 'agent_01', name: 'Bella Vista', language: 'it', prompt: 'You take bookings.', phoneNumber: '+15550100' },
      { id: 'agent/02?', name: 'Bare' },
    ];
    const double = await serve({ agents });
    expect(await list(double)).toEqual({
      items: [
        {
          ...{ assistantId: 'agent_01', name: 'Bella Vista', language: 'it', prompt: 'You take bookings.' },
          ...{ phoneNumber: '+15550100', phoneNumberId: 'agent_01-phone' },
        },
        {
          ...{ assistantId: 'agent/02?', name: 'Bare', language: null, prompt: null },
          ...{ phoneNumber: null, phoneNumberId: null },
        },
      ],
      total: 2,
    });
    for (const { headers, url } of double.requests) {
      const { 'xi-api-key': key, ...others } = headers;
      expect([key, JSON.stringify([url, others]).includes(KEY)]).toEqual([KEY, false]);
    }
    expect(elevenlabsText.assistants).toBe(elevenlabs.assistants);
  });

  it('are counted over all pages of the platform, and described only where they are shown', async () => {
    const agents = Array.from({ length: 230 }, (_, n): ListedAgent => ({ id: `agent_${n}`, name: `Agent ${n}` }));
    const double = await serve({ agents });
    const { items, total } = await list(double, { offset: 198, limit: 4 });
    expect(items.map(({ assistantId }) => assistantId)).toEqual(['agent_198', 'agent_199', 'agent_200', 'agent_201']);
    expect(total).toBe(230);
    expect(double.requests).toHaveLength(3 + 4);
    expect(await list(double, { offset: 300 })).toEqual({ items: [], total: 230 });
  });

  it('are not listed with a wrong key: the failure has the words of the platform, and not the key', async () => {
    const failure = await failureOf(list(await serve({}), { apiKey: 'sk_wrong_0987654321' }));
    expect(failure).toMatchObject({ code: 'platform_refused', retryable: false });
    expect(failure!.message).toMatch(/HTTP 401, check the apiKey .*it said ".*Invalid API key/);
    expect(failure!.message).not.toContain('sk_wrong');
  });

  it('are not asked for without TLS at the vendor', async () => {
    const client = new StubClient('{}');
    const failure = await failureOf(list({ url: 'http://api.elevenlabs.io' }, { client }));
    expect(failure!.message).toContain('over TLS only');
    expect(client.requests).toEqual([]);
  });

  it.each([
    ['no JSON', 'Hello'],
    ['no list', '{"agents":{}}'],
    ['a list without an end', '{"agents":[{"agent_id":"a"}],"has_more":true,"next_cursor":"c"}'],
  ])('are not listed if the answer is %s', async (_what, body) => {
    expect(await failureOf(list(elevenlabsUrl, { client: new StubClient(body) }))).toMatchObject({
      code: 'bad_response',
    });
  });

  it('are without what has the wrong type', async () => {
    const body = JSON.stringify({
      agents: [null, 3, { agent_id: 4 }, { agent_id: 'a', name: 5 }],
      ...{ name: {}, conversation_config: { agent: { language: 1, prompt: 'none' } }, phone_numbers: [7] },
    });
    const { items, total } = await list(elevenlabsUrl, { client: new StubClient(body) });
    expect(total).toBe(1);
    expect(items).toEqual([
      { assistantId: 'a', name: null, language: null, phoneNumber: null, phoneNumberId: null, prompt: null },
    ]);
  });
});

const elevenlabsUrl = { url: elevenlabs.defaultUrl! };
