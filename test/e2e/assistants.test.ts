import { ElevenLabsServer } from '../../libs/simulation/testing/elevenlabs.js';
import { RetellServer } from '../simulators/retell/server.js';
import { VapiServer } from '../../libs/simulation/testing/vapi.js';
import { ApiKeysService } from '../../src/modules/api-keys/api-keys.service.js';
import type { Role } from '../../src/platform/access/caller.js';
import { expectForbidden, expectInvalid, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { vat } from '../support/vat.js';

const KEY = 'sk_account_1234567890';
const PATH = '/providers/AGENT_PROVIDER_2/assistants';
const AGENTS = [
  { id: 'agent_01', name: 'Bella Vista', language: 'it', prompt: 'You take bookings.', phoneNumber: '+15550100' },
  { id: 'agent_02', name: 'Long\0', prompt: 'x'.repeat(100_001) },
  { id: `agent_${'3'.repeat(250)}`, name: 'Its id is too long for an agent' },
];

const HOSTILE = [
  { id: 'a_01', name: '\u001b[2J\u001b]0;title\u0007Red\r\n::error::<script>\u202e' },
  { id: 'a_01', name: 'The same once more' },
  ...[{ id: '../../agents', name: '\ud800' }, { id: '' }, { id: 7 }, { id: '__proto__', model: { messages: [null] } }],
];

describe("the assistants of a provider's account", () => {
  let double: ElevenLabsServer;
  let hostile: VapiServer;
  let app: TestApp;
  let admin: HttpClient;
  let env: NodeJS.ProcessEnv;
  let keyOf: (role: Role) => Promise<string>;

  beforeAll(async () => {
    double = await ElevenLabsServer.start({ apiKey: KEY, agents: AGENTS });
    hostile = await VapiServer.start({ apiKey: KEY, assistants: HOSTILE });
    app = await createTestApp({
      env: {
        AGENT_PROVIDER_4_PROTOCOL: 'vapi',
        AGENT_PROVIDER_4_URL: hostile.url,
        OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
        AGENT_PROVIDER_2_PROTOCOL: 'elevenlabs',
        AGENT_PROVIDER_2_URL: double.url,
        AGENT_PROVIDER_3_PROTOCOL: 'elevenlabs-text',
        AGENT_PROVIDER_3_URL: 'http://127.0.0.1:9',
      },
    });
  });
  beforeEach(async () => {
    const { workspaceId, userId, apiKey } = await app.createWorkspace();
    admin = new HttpClient(app.url, apiKey);
    keyOf = async (role) =>
      (await app.nest.get(ApiKeysService).create({ workspaceId, userId, name: role, role })).value;
    env = { VAT_URL: app.url, VAT_API_KEY: apiKey };
  });
  afterAll(async () => {
    await app.close();
    await double.stop();
    await hostile.stop();
  });

  it('are listed with a key of the account, as agents can have them, page by page', async () => {
    const editor = new HttpClient(app.url, await keyOf('EDITOR'));
    const { status, body } = await editor.post<any>(PATH, { apiKey: KEY });
    expect({ status, meta: body.meta }).toEqual({
      status: 200,
      meta: { total: 3, page: 1, limit: 25, pageCount: 1 },
    });
    const [first, second, ...more] = body.data;
    expect(first).toEqual({
      ...{ assistantId: 'agent_01', name: 'Bella Vista', language: 'it', prompt: 'You take bookings.' },
      ...{ phoneNumber: '+15550100', phoneNumberId: 'agent_01-phone' },
    });
    expect(second).toMatchObject({ assistantId: 'agent_02', name: 'Long\ufffd', language: null });
    expect(second.prompt).toHaveLength(100_000);
    expect(more).toEqual([]);
    const { body: page } = await editor.post<any>(`${PATH}?page=2&limit=1`, { apiKey: KEY });
    expect(page.meta).toEqual({ total: 3, page: 2, limit: 1, pageCount: 3 });
    expect(page.data).toMatchObject([{ assistantId: 'agent_02' }]);
  });

  it("are listed with the workspace's own default key, by an ADMIN", async () => {
    expectInvalid(await admin.post(PATH, {}), 'apiKey');
    await admin.put('/workspace/provider-keys/AGENT_PROVIDER_2', { apiKey: KEY });
    expect((await admin.post<any>(PATH, {})).body.meta.total).toBe(3);
    const { status, body } = await new HttpClient(app.url, await keyOf('EDITOR')).post<any>(PATH, {});
    expect([status, body.issues]).toEqual([403, [{ message: expect.stringMatching(/^apiKey /), field: 'apiKey' }]]);
    const another = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    expectInvalid(await another.post(PATH, {}), 'apiKey');
  });

  it('are not listed to a VIEWER, for an unknown provider, and over a protocol without a list', async () => {
    expectForbidden(await new HttpClient(app.url, await keyOf('VIEWER')).post(PATH, { apiKey: KEY }));
    expectNotFound(await admin.post(PATH.replace('2', '9'), { apiKey: KEY }));
    const { status, body } = await admin.post<any>(PATH.replace('2', '1'), { apiKey: KEY });
    expect([status, body.message]).toEqual([409, expect.stringMatching(/AGENT_PROVIDER_1_PROTOCOL to .*elevenlabs, /)]);
  });

  it('are not listed with keys that cannot be sent in a header', async () => {
    for (const apiKey of ['🍝', 'a\nb', '']) expectInvalid(await admin.post(PATH, { apiKey }), 'apiKey');
    expectInvalid(await admin.post(PATH, { apiKey: '••••1234' }), 'apiKey');
  });

  it("say with the platform's words why it refuses, and that it cannot be reached", async () => {
    const wrong = await admin.post<any>(PATH, { apiKey: 'sk_wrong_0987654321' });
    expect([wrong.status, wrong.body.code]).toEqual([422, 'UNPROCESSABLE_CONTENT']);
    expect(wrong.body.message).toMatch(/AGENT_PROVIDER_2_URL.*Invalid API key/);
    expect(JSON.stringify(wrong.body)).not.toMatch(/sk_wrong|127\.0\.0\.1/);
    const down = await admin.post<any>(PATH.replace('2', '3'), { apiKey: KEY });
    expect([down.status, down.body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(down.body.message).toMatch(/Could not connect.*AGENT_PROVIDER_3_URL/);
  });

  it('are registered by vat agent import, once', async () => {
    const args = ['agent', 'import', '--provider', 'AGENT_PROVIDER_2'];
    const own = { ...env, VAT_PROVIDER_KEY: KEY };
    const planned = await vat([...args, '--dry-run'], own);
    expect([planned.code, planned.stdout]).toEqual([
      0,
      expect.stringMatching(/^would create +agent_01 +Bella Vista$/m),
    ]);
    expect((await admin.get<any>('/agents')).body.meta.total).toBe(0);
    const first = await vat(args, own);
    expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/^created +agent_01 +Bella Vista$/m)]);
    const agents = (await admin.get<any>('/agents')).body;
    expect(agents.data).toMatchObject([
      { assistantId: 'agent_02', name: 'Long\ufffd' },
      { provider: 'AGENT_PROVIDER_2', assistantId: 'agent_01', apiKey: KEY, language: 'it', phoneNumber: '+15550100' },
    ]);
    const again = await vat(args, own);
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^unchanged +agent_01 +Bella Vista$/m)]);
    expect((await admin.get<any>('/agents')).body).toEqual(agents);
  });

  it('are registered with the default key if vat has no other, and only those that are named', async () => {
    const args = ['agent', 'import', '--provider', 'AGENT_PROVIDER_2', '--assistant'];
    const missing = await vat(args.slice(0, 4), env);
    expect([missing.code, missing.stderr]).toEqual([3, expect.stringContaining('Set VAT_PROVIDER_KEY to')]);
    await admin.put('/workspace/provider-keys/AGENT_PROVIDER_2', { apiKey: KEY });
    expect((await vat([...args, 'agent_02'], env)).code).toBe(0);
    expect((await admin.get<any>('/agents')).body.data).toMatchObject([
      { assistantId: 'agent_02', isUsingDefaultApiKey: true },
    ]);
    const unknown = await vat([...args, 'agent_09'], env);
    expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('agent_09')]);
    const refused = await vat(args.slice(0, 4), { ...env, VAT_PROVIDER_KEY: 'sk_wrong_0987654321' });
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('Invalid API key')]);
    expect(refused.stderr).not.toContain('sk_wrong');
  });

  it("are listed of any platform by its protocol, with the account's own key", async () => {
    const editor = new HttpClient(app.url, await keyOf('EDITOR'));
    const path = PATH.replace('2', '1');
    const account = { apiKey: KEY, protocol: 'elevenlabs', url: double.url };
    const { status, body } = await editor.post<any>(path, account);
    expect([status, body.meta.total]).toEqual([200, 3]);
    await admin.put('/workspace/provider-keys/AGENT_PROVIDER_2', { apiKey: KEY });
    for (const more of [{ protocol: 'elevenlabs' }, { url: double.url }]) {
      expectInvalid(await admin.post(PATH, more), 'apiKey');
    }
    expectInvalid(await editor.post(path, { ...account, protocol: 'chat-completions' }), 'protocol');
    for (const url of ['ftp://127.0.0.1/', 'http://10.0.0.1/', 'https://user@example.com/']) {
      expectInvalid(await editor.post(path, { ...account, url }), 'url');
    }
    const wrong = await editor.post<any>(path, { ...account, apiKey: 'sk_wrong_0987654321' });
    expect([wrong.status, wrong.body.message]).toEqual([422, expect.stringMatching(/Invalid API key/)]);
    expect(JSON.stringify(wrong.body)).not.toContain('sk_wrong');
  });

  it('are registered and connected by vat agent import --platform, also those that had no connection', async () => {
    const agents = async () =>
      Promise.all(
        (await admin.get<any>('/agents')).body.data.map(async ({ id, assistantId, provider }: any) => {
          const { body } = await admin.get<any>(`/agents/${id}/connection`);
          return { id, assistantId, provider, protocol: body.data?.protocol, url: body.data?.url };
        }),
      );
    const args = ['agent', 'import', '--platform', 'elevenlabs', '--address', double.url];
    const own = { ...env, VAT_PROVIDER_KEY: KEY };
    expect((await vat([...args, '--dry-run'], own)).stdout).toMatch(/^would create +agent_01 /m);
    expect(await agents()).toEqual([]);
    expect(await vat(args, own)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^created +agent_01 /m) });
    const connection = { provider: 'AGENT_PROVIDER_1', protocol: 'elevenlabs', url: double.url };
    const found = await agents();
    expect(found.map(({ id: _, ...one }: any) => one)).toEqual([
      { assistantId: 'agent_02', ...connection },
      { assistantId: 'agent_01', ...connection },
    ]);
    await admin.delete(`/agents/${found[0].id}/connection`);
    expect((await vat([...args, '--dry-run'], own)).stdout).toMatch(/^would connect +agent_02 /m);
    const again = await vat(args, own);
    expect(again.stdout).toMatch(/^unchanged +agent_01 .*\n?^connected +agent_02 /ms);
    expect(await agents()).toEqual(found);
  });

  it('are not imported by vat without a key for --platform, or with an address without it', async () => {
    const missing = await vat(['agent', 'import', '--platform', 'vapi'], env);
    expect([missing.code, missing.stderr]).toEqual([3, expect.stringContaining('Set VAT_PROVIDER_KEY to')]);
    for (const args of [[], ['--provider', 'AGENT_PROVIDER_2', '--address', double.url]]) {
      const { code, stderr } = await vat(['agent', 'import', ...args], env);
      expect([code, stderr]).toEqual([3, expect.stringContaining("'--platform <protocol>'")]);
    }
    const unknown = await vat(['agent', 'import', '--platform', 'vapy'], { ...env, VAT_PROVIDER_KEY: KEY });
    expect([unknown.code, unknown.stderr]).toEqual([
      3,
      expect.stringContaining('protocol must be one of elevenlabs, '),
    ]);
  });

  it('are registered once each, and printed without what a terminal or a log obeys', async () => {
    const args = ['agent', 'import', '--provider', 'AGENT_PROVIDER_4'];
    const imported = await vat(args, { ...env, VAT_PROVIDER_KEY: KEY });
    expect(imported).toMatchObject({ code: 0 });
    expect(imported.stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]|^\s*::/m);
    const { body } = await admin.get<any>('/agents');
    expect(body.data.map(({ assistantId }: any) => assistantId).sort()).toEqual(['../../agents', '__proto__', 'a_01']);
    const again = await vat(args, { ...env, VAT_PROVIDER_KEY: KEY });
    expect(again.stdout).not.toContain('created');
  });
});

describe.each([
  {
    platform: 'Vapi',
    protocol: 'vapi',
    start: () =>
      VapiServer.start({
        apiKey: KEY,
        assistants: [
          {
            ...{ id: 'assistant_01', name: 'Bella Vista', transcriber: { language: 'it' } },
            model: { messages: [{ role: 'system', content: 'You take bookings.' }] },
          },
          {
            id: 'assistant_02',
            name: 'Long\0',
            model: { messages: [{ role: 'system', content: 'x'.repeat(100_001) }] },
          },
        ],
        phoneNumbers: [{ id: 'number_01', number: '+15550100', assistantId: 'assistant_01' }],
      }),
    first: { assistantId: 'assistant_01', language: 'it', phoneNumber: '+15550100', phoneNumberId: 'number_01' },
    refusal: /HTTP 401, check the apiKey .*Invalid Key/,
  },
  {
    platform: 'Retell',
    protocol: 'retell-text',
    start: () =>
      RetellServer.start({
        apiKey: KEY,
        agents: [
          { id: 'agent_01', name: 'Bella Vista', language: 'it-IT', prompt: 'You take bookings.' },
          { id: 'agent_02', name: 'Long\0', prompt: 'x'.repeat(100_001) },
        ],
      }),
    first: { assistantId: 'agent_01', language: 'it-IT', phoneNumber: null, phoneNumberId: null },
    refusal: /HTTP 401, check the apiKey .*Invalid API Key/,
  },
])('the assistants of an account of $platform', ({ protocol, start, first, refusal }) => {
  let double: VapiServer | RetellServer;
  let app: TestApp;
  let admin: HttpClient;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    double = await start();
    app = await createTestApp({
      env: {
        OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
        AGENT_PROVIDER_2_PROTOCOL: protocol,
        AGENT_PROVIDER_2_URL: double.url,
      },
    });
    const { apiKey } = await app.createWorkspace();
    admin = new HttpClient(app.url, apiKey);
    env = { VAT_URL: app.url, VAT_API_KEY: apiKey };
  });
  afterAll(async () => {
    await app.close();
    await double.stop();
  });

  it('are listed with a key of it, and a wrong key is refused in words of the platform', async () => {
    const { status, body } = await admin.post<any>(PATH, { apiKey: KEY });
    expect([status, body.meta.total]).toEqual([200, 2]);
    expect(body.data[0]).toEqual({ name: 'Bella Vista', prompt: 'You take bookings.', ...first });
    expect([body.data[1].name, body.data[1].prompt.length]).toEqual(['Long\ufffd', 100_000]);
    const { body: page } = await admin.post<any>(`${PATH}?page=2&limit=1`, { apiKey: KEY });
    expect([page.meta.pageCount, page.data]).toEqual([2, [expect.objectContaining({ name: 'Long\ufffd' })]]);
    const wrong = await admin.post<any>(PATH, { apiKey: 'sk_wrong_0987654321' });
    expect([wrong.status, wrong.body.message]).toEqual([422, expect.stringMatching(refusal)]);
    expect(JSON.stringify(wrong.body)).not.toMatch(/sk_wrong|127\.0\.0\.1/);
  });

  it('are registered by vat agent import, once', async () => {
    const args = ['agent', 'import', '--provider', 'AGENT_PROVIDER_2', '--assistant', first.assistantId];
    const own = { ...env, VAT_PROVIDER_KEY: KEY };
    const created = await vat(args, own);
    expect([created.code, created.stdout]).toEqual([0, expect.stringMatching(/^created +\w+_01 +Bella Vista$/m)]);
    const agents = (await admin.get<any>('/agents')).body;
    const { phoneNumberId: _, ...registered } = first;
    expect(agents.data).toEqual([
      expect.objectContaining({ provider: 'AGENT_PROVIDER_2', apiKey: KEY, ...registered }),
    ]);
    const again = await vat(args, own);
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^unchanged +\w+_01 +Bella Vista$/m)]);
    expect((await admin.get<any>('/agents')).body).toEqual(agents);
  });
});
