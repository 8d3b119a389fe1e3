import { randomUUID } from 'node:crypto';
import { agentBody } from '../factories/bodies.js';
import { expectForbidden, expectInvalid, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const URL = 'https://agent.example.com/v1/chat/completions';
const TOKEN = 'Bearer agent-token-1';

describe('the connection of an agent', () => {
  let app: TestApp;
  let admin: HttpClient;
  let editor: HttpClient;
  let viewer: HttpClient;

  beforeAll(async () => {
    app = await createTestApp({
      env: {
        AGENT_PROVIDER_2_URL: 'https://provider.example.com/v1/chat/completions',
        OUTBOUND_ALLOWED_NETWORKS: '10.1.0.0/16',
      },
    });
    const owner = await app.createWorkspace();
    admin = new HttpClient(app.url, owner.apiKey);
    editor = admin.as((await createKey(app, owner, 'EDITOR')).value);
    viewer = admin.as((await createKey(app, owner, 'VIEWER')).value);
    const defaultKey = { apiKey: 'default-key-of-the-workspace' };
    expect((await admin.put('/workspace/provider-keys/AGENT_PROVIDER_1', defaultKey)).status).toBe(200);
  });
  afterAll(() => app.close());

  const createAgent = async (values: object = {}): Promise<string> => {
    const { status, body } = await admin.post<any>('/agents', agentBody(values));
    expect(status).toBe(201);
    return body.data.id;
  };
  const pathOf = async (values?: object) => `/agents/${await createAgent(values)}/connection`;
  /** A path of an agent with this connection. */
  const connected = async (connection: object) => {
    const path = await pathOf();
    expect(await editor.put(path, { url: URL, ...connection })).toMatchObject({ status: 200 });
    return path;
  };

  it('is set, read, replaced as a whole and deleted, without ever returning the values of headers', async () => {
    const path = await pathOf();
    const connection = {
      protocol: 'chat-completions',
      url: `${URL}?id={assistantId}&to={phoneNumber}&call={callId}`,
      headers: { Authorization: TOKEN, 'X-Tenant': 'bella-vista' },
      firstSpeaker: 'agent',
      options: {},
    };
    const shown = {
      ...connection,
      headers: { Authorization: null, 'X-Tenant': null },
      source: 'agent',
      address: 'own',
    };
    const put = await editor.put(path, connection);
    expect([put.status, put.body]).toEqual([200, { message: 'Connection set successfully', data: shown }]);
    for (const client of [viewer, editor, admin]) {
      const { status, body } = await client.get(path);
      expect([status, body]).toEqual([200, { message: 'Connection retrieved successfully', data: shown }]);
    }
    const defaults = { protocol: 'chat-completions', headers: {}, firstSpeaker: 'caller', options: {} };
    const replaced = { ...defaults, url: URL, source: 'agent', address: 'own' };
    expect((await editor.put<any>(path, { url: URL })).body.data).toEqual(replaced);
    const deleted = await editor.delete(path);
    expect([deleted.status, deleted.body]).toEqual([
      200,
      { message: 'Connection deleted successfully', data: replaced },
    ]);
    expectNotFound(await viewer.get(path));
    expectNotFound(await editor.delete(path));
  });

  it('is that of the provider as long as the agent has none of its own', async () => {
    const path = await pathOf({ provider: 'AGENT_PROVIDER_2' });
    const ofProvider = {
      protocol: 'chat-completions',
      url: null,
      headers: {},
      firstSpeaker: 'caller',
      options: {},
      source: 'provider',
      address: 'setting',
    };
    expect((await viewer.get<any>(path)).body.data).toEqual(ofProvider);
    expect((await editor.delete<any>(path)).body.data).toEqual(ofProvider);
    await editor.put(path, { url: URL });
    expect((await viewer.get<any>(path)).body.data).toMatchObject({ url: URL, source: 'agent' });
    await editor.delete(path);
    expect((await viewer.get<any>(path)).body.data).toEqual(ofProvider);
  });

  it('needs no address where the protocol has one', async () => {
    const path = await pathOf();
    const put = await editor.put<any>(path, { protocol: 'openai-realtime' });
    expect(put.body.data).toEqual({
      protocol: 'openai-realtime',
      url: 'wss://api.openai.com/v1/realtime?model={assistantId}',
      address: 'vendor',
      headers: {},
      firstSpeaker: 'agent',
      options: {},
      source: 'agent',
    });
    const own = { protocol: 'openai-realtime', url: 'wss://voice.example.com/v1/realtime' };
    expect((await editor.put<any>(path, own)).body.data).toMatchObject({ ...own, address: 'own' });
    expectInvalid(await editor.put(path, { protocol: 'twilio-media-streams' }), 'url');
    expectInvalid(await editor.put(path, {}), 'url');
  });

  it('keeps the settings of a Realtime session, and refuses those that cannot be sent', async () => {
    const protocol = 'openai-realtime';
    const session = { instructions: 'You book tables.', audio: { output: { voice: 'marin' } } };
    const path = await pathOf();
    expect((await editor.put<any>(path, { protocol, options: { session, line: 'wide' } })).body.data).toMatchObject({
      options: { session, line: 'wide' },
    });
    for (const wrong of [{ tools: [{ type: 'mcp' }] }, 'text', null]) {
      expectInvalid(await editor.put(path, { protocol, options: { session: wrong } }), 'options.session');
    }
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const raw = `{"protocol":"${protocol}","options":{"session":{"a":${nested}}}}`;
    expect((await editor.send('PUT', path, raw)).status).toBe(400);
    expectInvalid(await editor.put(path, { protocol, options: { line: 'narrow' } }), 'options.line');
    const bare = await editor.put<any>(path, { protocol, options: { transcription: 'heard' } });
    expect(bare.body.data.options).toEqual({ transcription: 'heard' });
    for (const wrong of ['on', true, null]) {
      expectInvalid(await editor.put(path, { protocol, options: { transcription: wrong } }), 'options.transcription');
    }
    const overText = { url: 'https://agent.example.com/v1', options: { transcription: 'off' } };
    expectInvalid(await editor.put(path, overText), 'options.transcription');
  });

  it('needs EDITOR to be written', async () => {
    const path = await pathOf();
    expectForbidden(await viewer.put(path, { url: URL }));
    expectForbidden(await viewer.delete(path));
  });

  it('is found only through an agent of the own workspace that exists', async () => {
    const path = await connected({});
    const foreign = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    expectForbidden(await foreign.get(path));
    expectForbidden(await foreign.put(path, { url: URL }));
    expectForbidden(await foreign.delete(path));
    expect((await viewer.get(path)).status).toBe(200);
    for (const id of [randomUUID(), 'nope']) {
      expectNotFound(await editor.get(`/agents/${id}/connection`));
      expectNotFound(await editor.put(`/agents/${id}/connection`, { url: URL }));
      expectNotFound(await editor.delete(`/agents/${id}/connection`));
    }
    await editor.delete(path.replace('/connection', ''));
    expectNotFound(await viewer.get(path));
  });

  it('stores header values encrypted, bound to the agent', async () => {
    const path = await connected({ headers: { Authorization: TOKEN } });
    const [row] = await sql(app.databaseUrl, 'SELECT * FROM agent_connections WHERE agent_id = $1', [
      path.split('/')[2],
    ]);
    expect(JSON.stringify(row)).not.toContain('agent-token');
    const other = await connected({});
    await sql(app.databaseUrl, 'UPDATE agent_connections SET secrets = $1 WHERE agent_id = $2', [
      row?.['secrets'],
      other.split('/')[2],
    ]);
    expect((await viewer.get(other)).status).toBe(500);
  });

  describe('url', () => {
    it.each([
      'http://agent.example.com',
      'https://agent.example.com:8443/a/{assistantId}/b?c={callId}&d=%20#part',
      'https://10.1.2.3/v1',
      'https://[2606:4700:4700::1111]/',
    ])('may be %s', async (url) => {
      expect(await editor.put(await pathOf(), { url })).toMatchObject({ status: 200, body: { data: { url } } });
    });

    it.each([
      ['', 'must not be empty'],
      ['agent.example.com', 'must be an absolute address that begins with http:// or https://'],
      ['wss://agent.example.com/', 'must be an absolute address'],
      ['file:///etc/passwd', 'must be an absolute address'],
      ['https:/agent.example.com', 'must be an absolute address'],
      ['https:///path', 'must be an absolute address'],
      ['https://agent.example.com/a b', 'must be an absolute address'],
      ['https://agent.example.com/\n', 'must be an absolute address'],
      ['https://münchen.example.com/', 'in ASCII: write other characters as %C3%BC, and a host name as xn--…'],
      ['https://agent.example.com/%zz', 'must be an absolute address'],
      ['https://agent.example.com\\@evil.test/', 'must be an absolute address'],
      ['https://agent.example.com:99999/', 'must be an absolute address'],
      ['https://user:password@agent.example.com/', 'must not contain a user name or password'],
      ['https://@agent.example.com/', 'must not contain a user name or password'],
      ['https://{assistantId}.example.com/', 'must have placeholders in its path and query only'],
      ['https://agent.example.com:{phoneNumber}/', 'must have placeholders in its path and query only'],
      ['https://agent.example.com/#{callId}', 'must have placeholders in its path and query only'],
      ['https://agent.example.com/{runId}', 'must have no placeholder except'],
      ['https://agent.example.com/{callId', 'must have no placeholder except'],
      ['http://127.0.0.1:3000/', 'must not point to a private or reserved network'],
      ['http://2130706433/', 'must not point to a private or reserved network'],
      ['http://169.254.169.254/latest', 'must not point to a private or reserved network'],
      ['https://10.2.0.1/{callId}', 'must not point to a private or reserved network'],
      ['https://[::1]/', 'must not point to a private or reserved network'],
      [`https://agent.example.com/${'x'.repeat(2_048)}`, 'must have at most 2048 characters'],
      [7, 'must be a string'],
      [null, 'must be a string'],
    ])('must not be %j', async (url, reason) => {
      const response = await editor.put<any>(await pathOf(), { url });
      expectInvalid(response, 'url');
      expect(response.body.issues[0].message).toContain(reason);
    });
  });

  describe('headers', () => {
    it.each([
      { 'X-Empty': '' },
      { 'x-latin': 'café' },
      { Cookie: 'sid=1; theme=dark', Accept: 'application/json' },
      Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`X-${n}`, 'x'.repeat(4_096)])),
    ])('may be %j', async (headers) => {
      const { status, body } = await editor.put<any>(await pathOf(), { url: URL, headers });
      expect([status, Object.keys(body.data.headers).sort()]).toEqual([200, Object.keys(headers).sort()]);
    });

    it.each([
      'Host',
      'content-type',
      'Content-Length',
      'Transfer-Encoding',
      'CONNECTION',
      'Upgrade',
      'Sec-WebSocket-Key',
      'X-Call-Id',
      'X-Twilio-Signature',
      'Expect',
      'Keep-Alive',
    ])('must not contain %s, which the service or the protocol sets', async (name) => {
      const response = await editor.put<any>(await pathOf(), { url: URL, headers: { [name]: 'x' } });
      expectInvalid(response, `headers.${name}`);
      expect(response.body.issues[0].message).toContain('must not be set');
    });

    it.each([
      [{ 'X-A': 'a\r\nX-Call-Id: 1' }, ['headers.X-A']],
      [{ 'X-A': 'a\tb' }, ['headers.X-A']],
      [{ 'X-A': 'a\u007f' }, ['headers.X-A']],
      [{ 'X-A': 'Łódź' }, ['headers.X-A']],
      [{ 'X-A': 7 }, ['headers.X-A']],
      [{ 'X-A': 'x'.repeat(4_097) }, ['headers.X-A']],
      [{ 'X-A': '••••oken' }, ['headers.X-A']],
      [{ 'X:A': 'x', '': 'x' }, ['headers.X:A', 'headers.""']],
      [{ 'X-A': 'x', 'x-a': 'y' }, ['headers.x-a']],
      [Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`X-${n}`, 'x'])), ['headers']],
      ['X-A: 1', ['headers']],
      [['X-A'], ['headers']],
      [null, ['headers']],
    ])('must not be %j', async (headers, fields) => {
      expectInvalid(await editor.put(await pathOf(), { url: URL, headers }), ...fields);
    });

    const nulls = { headers: { authorization: null } };
    const stored = async (path: string) => (await viewer.get<any>(path)).body.data.headers;

    it.each(['https://agent.example.com/other?x=1', 'https://AGENT.example.com:443/'])(
      'keep a stored value for null at %s: scheme, host and port are the same',
      async (url) => {
        const path = await connected({ headers: { Authorization: TOKEN, 'X-Tenant': 'bella-vista' } });
        expect(await editor.put(path, { url, ...nulls })).toMatchObject({ status: 200 });
        expect(await stored(path)).toEqual({ authorization: null });
      },
    );

    it.each([
      'http://agent.example.com/v1/chat/completions',
      'https://agent.example.com:8443/v1/chat/completions',
      'https://evil.example.com/v1/chat/completions',
    ])('keep no value at %s: it would be sent to another server', async (url) => {
      const path = await connected({ headers: { Authorization: TOKEN } });
      const response = await editor.put<any>(path, { url, ...nulls });
      expectInvalid(response, 'headers.authorization');
      expect(response.body.issues[0].message).toContain('scheme, host and port');
      expect((await viewer.get<any>(path)).body.data.url).toBe(URL);
      expect(await editor.put(path, { url, headers: { Authorization: 'Bearer another' } })).toMatchObject({
        status: 200,
      });
    });

    it('cannot be null without a stored value', async () => {
      expectInvalid(await editor.put(await pathOf(), { url: URL, ...nulls }), 'headers.authorization');
      expectInvalid(
        await editor.put(await connected({ headers: { 'X-A': 'x' } }), { url: URL, ...nulls }),
        'headers.authorization',
      );
    });
  });

  it.each([
    [{ protocol: 'carrier-pigeon' }, 'protocol'],
    [{ protocol: 'fax' }, 'protocol'],
    [{ protocol: 'sip' }, 'url'],
    [{ firstSpeaker: 'both' }, 'firstSpeaker'],
    [{ options: { model: 'x' } }, 'options.model'],
    [{ options: { toString: 'x' } }, 'options.toString'],
    [{ options: [] }, 'options'],
    [{ colour: 'red' }, 'colour'],
  ])('is not valid with %j', async (values, field) => {
    expectInvalid(await editor.put(await pathOf(), { url: URL, ...values }), field);
  });

  it('names every violation at once', async () => {
    const wrong = { url: 'ftp://x', headers: { Host: 'x', 'X-A': '\n' }, options: { a: 1 } };
    expectInvalid(await editor.put(await pathOf(), wrong), 'url', 'headers.Host', 'headers.X-A', 'options.a');
  });

  describe('of an agent that uses the default key of the workspace', () => {
    const usingDefault = { isUsingDefaultApiKey: true, apiKey: undefined };
    const expectRefused = ({ status, body }: { status: number; body: any }, field: string) => {
      expect([status, body.code, body.message]).toEqual([403, 'FORBIDDEN', 'Insufficient access']);
      expect(body.issues).toMatchObject([{ message: expect.stringMatching(new RegExp(`^${field} `)) }]);
    };

    it('is set and deleted by an ADMIN only', async () => {
      const path = await pathOf(usingDefault);
      expectRefused(await editor.put(path, { url: URL }), 'isUsingDefaultApiKey');
      expect((await admin.put(path, { url: URL })).status).toBe(200);
      expectRefused(await editor.put(path, { url: 'https://evil.example.com/' }), 'isUsingDefaultApiKey');
      expectRefused(await editor.delete(path), 'isUsingDefaultApiKey');
      expect((await viewer.get<any>(path)).body.data.url).toBe(URL);
      expect((await admin.delete(path)).status).toBe(200);
    });

    it('is set by an ADMIN only, even while the agent has a key of its own or the default key does not exist', async () => {
      const withKey = { isUsingDefaultApiKey: true, provider: 'AGENT_PROVIDER_4' };
      expectRefused(await editor.put(await pathOf(withKey), { url: URL }), 'isUsingDefaultApiKey');
    });

    it('makes isUsingDefaultApiKey true only for an ADMIN', async () => {
      const path = await connected({});
      const agent = path.replace('/connection', '');
      expectRefused(await editor.patch(agent, { isUsingDefaultApiKey: true }), 'isUsingDefaultApiKey');
      expect((await viewer.get<any>(agent)).body.data.isUsingDefaultApiKey).toBe(false);
      expect((await editor.patch(agent, { isUsingDefaultApiKey: false, name: 'Renamed' })).status).toBe(200);
      expect((await admin.patch(agent, { isUsingDefaultApiKey: true })).status).toBe(200);
    });

    it('makes the provider, whose default key it gets, changeable for an ADMIN only', async () => {
      const path = await pathOf({ isUsingDefaultApiKey: true });
      const agent = path.replace('/connection', '');
      const other = { provider: 'AGENT_PROVIDER_2' };
      expect((await editor.patch(agent, other)).status).toBe(200);
      expect((await editor.patch(agent, { provider: 'AGENT_PROVIDER_1' })).status).toBe(200);
      expect((await admin.put(path, { url: URL })).status).toBe(200);
      expectRefused(await editor.patch(agent, other), 'provider');
      expect((await viewer.get<any>(agent)).body.data.provider).toBe('AGENT_PROVIDER_1');
      const unchanged = { provider: 'AGENT_PROVIDER_1', name: 'Renamed' };
      expect((await editor.patch(agent, unchanged)).status).toBe(200);
      expect((await editor.patch(agent, { ...other, isUsingDefaultApiKey: false })).status).toBe(200);
      expect((await admin.patch(agent, { isUsingDefaultApiKey: true })).status).toBe(200);
      expect((await admin.patch(agent, { provider: 'AGENT_PROVIDER_1' })).status).toBe(200);
    });

    it('may be that of the provider for an EDITOR', async () => {
      const agent = `/agents/${await createAgent()}`;
      expect((await editor.patch(agent, { isUsingDefaultApiKey: true })).status).toBe(200);
    });

    it('is never set beside the flag by concurrent requests of an EDITOR', async () => {
      for (let n = 0; n < 10; n++) {
        const path = await pathOf();
        const agent = path.replace('/connection', '');
        await Promise.all([
          editor.put(path, { url: 'https://evil.example.com/' }),
          editor.patch(agent, { isUsingDefaultApiKey: true }),
        ]);
        const hasFlag = (await admin.get<any>(agent)).body.data.isUsingDefaultApiKey;
        const hasConnection = (await admin.get(path)).status === 200;
        expect([hasFlag, hasConnection].filter(Boolean)).toHaveLength(1);
      }
    });
  });
});
