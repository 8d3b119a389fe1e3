import { ConnectionService } from '../../src/modules/agents/connection/connection.service.js';
import type { AgentProvider } from '../../src/platform/config/agent-providers.js';
import { ProviderKeysService } from '../../src/modules/provider-keys/provider-keys.service.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { expectError, expectInvalid, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { shortEvaluation } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

describe('agents that use the default key of their workspace', () => {
  let app: TestApp;
  let client: HttpClient;
  let workspaceId: string;
  let owner: { workspaceId: string; userId: string };
  const usingDefault = { apiKey: undefined, isUsingDefaultApiKey: true };

  beforeAll(async () => {
    app = await createTestApp({
      env: { AGENT_PROVIDER_3_PROTOCOL: 'openai-realtime', AGENT_PROVIDER_4_PROTOCOL: 'vapi' },
    });
  });
  beforeEach(async () => {
    const workspace = await app.createWorkspace();
    owner = workspace;
    workspaceId = workspace.workspaceId;
    client = new HttpClient(app.url, workspace.apiKey);
  });
  afterAll(() => app.close());

  const putDefault = (provider: AgentProvider, key: string) =>
    app.nest.get(ProviderKeysService).put(workspaceId, provider, key);
  const create = async (values: object) => {
    const { status, body } = await client.post('/agents', agentBody(values));
    expect(status).toBe(201);
    return body.data;
  };

  it('require an apiKey while the workspace has no default key', async () => {
    expectInvalid(await client.post('/agents', agentBody(usingDefault)), 'apiKey');
    expect(await create({ isUsingDefaultApiKey: true })).toMatchObject({ apiKey: 'provider-key-1' });
  });

  it('require no apiKey once the workspace has a default key for the provider', async () => {
    await putDefault('AGENT_PROVIDER_2', 'default-key-2');
    expect(await create({ ...usingDefault, provider: 'AGENT_PROVIDER_2' })).toMatchObject({
      apiKey: '••••ey-2',
      isUsingDefaultApiKey: true,
    });
    expectInvalid(await client.post('/agents', agentBody(usingDefault)), 'apiKey');
  });

  it("do not use another workspace's default key", async () => {
    await app.nest
      .get(ProviderKeysService)
      .put((await app.createWorkspace()).workspaceId, 'AGENT_PROVIDER_1', 'foreign');
    expectInvalid(await client.post('/agents', agentBody(usingDefault)), 'apiKey');
  });

  it.each([false, null, undefined])(
    'require an apiKey when isUsingDefaultApiKey is %s',
    async (isUsingDefaultApiKey) => {
      await putDefault('AGENT_PROVIDER_1', 'default-1');
      expectInvalid(await client.post('/agents', agentBody({ apiKey: undefined, isUsingDefaultApiKey })), 'apiKey');
    },
  );

  it('return the mask of the default key, to every role, in place of their own key', async () => {
    await putDefault('AGENT_PROVIDER_1', 'default-key-1');
    const { id, apiKey } = await create({ apiKey: 'own', isUsingDefaultApiKey: true });
    expect(apiKey).toBe('••••ey-1');
    for (const role of ['VIEWER', 'EDITOR', 'ADMIN'] as const) {
      const reader = client.as((await createKey(app, owner, role)).value);
      expect((await reader.get(`/agents/${id}`)).body.data.apiKey).toBe('••••ey-1');
      expect((await reader.get('/agents')).body.data[0].apiKey).toBe('••••ey-1');
    }
    const changed = await client.patch(`/agents/${id}`, { isUsingDefaultApiKey: false });
    expect(changed.body.data.apiKey).toBe('own');
    const again = await client.patch(`/agents/${id}`, { isUsingDefaultApiKey: true });
    expect(again.body.data.apiKey).toBe('••••ey-1');
    expect((await client.delete(`/agents/${id}`)).body.data.apiKey).toBe('••••ey-1');
  });

  it('return their own key while the workspace has no default key', async () => {
    const { id, apiKey } = await create({ apiKey: 'own-provider-key', isUsingDefaultApiKey: true });
    expect(apiKey).toBe('own-provider-key');
    const viewer = client.as((await createKey(app, owner, 'VIEWER')).value);
    expect((await viewer.get(`/agents/${id}`)).body.data.apiKey).toBe('••••-key');
  });

  it('show nothing of a short default key', async () => {
    await putDefault('AGENT_PROVIDER_1', 'short-key-1');
    expect(await create(usingDefault)).toMatchObject({ apiKey: '••••' });
  });

  it('follow a change of the default key', async () => {
    await putDefault('AGENT_PROVIDER_1', 'the-first-key');
    const { id } = await create(usingDefault);
    await putDefault('AGENT_PROVIDER_1', 'the-next-one');
    expect((await client.get(`/agents/${id}`)).body.data.apiKey).toBe('••••-one');
  });

  it('reject a change that would leave them without a key', async () => {
    await putDefault('AGENT_PROVIDER_1', 'default-1');
    const agent = await create(usingDefault);
    for (const changes of [
      { isUsingDefaultApiKey: false },
      { isUsingDefaultApiKey: null },
      { provider: 'AGENT_PROVIDER_2' },
    ]) {
      expectInvalid(await client.patch(`/agents/${agent.id}`, changes), 'apiKey');
    }
    expect((await client.get(`/agents/${agent.id}`)).body.data).toEqual(agent);
    const both = await client.patch(`/agents/${agent.id}`, { provider: 'AGENT_PROVIDER_2', apiKey: 'own-2' });
    expect(both.body.data).toMatchObject({ provider: 'AGENT_PROVIDER_2', apiKey: 'own-2' });
  });

  it.each<[string, string, object, { readonly protocol: string; readonly options?: object }, AgentProvider]>([
    [
      'OpenAI Realtime',
      'openai-realtime',
      { url: 'wss://evil.example.com/' },
      { protocol: 'openai-realtime' },
      'AGENT_PROVIDER_3',
    ],
    [
      'Vapi',
      'vapi',
      { options: { trigger: 'vapi:https://evil.example.com' } },
      { protocol: 'sip', ...{ url: 'sip:sip.example.com', options: { trigger: 'vapi' } } },
      'AGENT_PROVIDER_4',
    ],
    [
      'Vapi',
      'vapi',
      { options: { records: 'vapi:https://evil.example.com' } },
      { protocol: 'sip', ...{ url: 'sip:agent@sip.example.com', options: { records: 'vapi' } } },
      'AGENT_PROVIDER_4',
    ],
  ])(
    'are not connected to %s, if it is not their provider: the default key would be sent there',
    async (title, name, other, elsewhere, provider) => {
      await putDefault('AGENT_PROVIDER_1', 'default-key-1');
      await putDefault(provider, 'default-key-of-a-platform');
      const connectionOf = ({ id }: { id: string }) => `/agents/${id}/connection`;
      const refused = `The default key of AGENT_PROVIDER_1 is not for ${title}: give the agent an apiKey and set isUsingDefaultApiKey to false, or set AGENT_PROVIDER_1_PROTOCOL to ${name}`;
      const path = connectionOf(await create(usingDefault));
      expectError(await client.put(path, elsewhere), 409, 'CONFLICT', refused);
      expectError(await client.put(path, { ...elsewhere, ...other }), 409, 'CONFLICT', refused);
      expectInvalid(await client.put(path, { ...elsewhere, options: { colour: 'red' } }), 'options.colour');
      expectNotFound(await client.get(path));
      const ofPlatform = connectionOf(await create({ ...usingDefault, provider }));
      expect(await client.put(ofPlatform, elsewhere)).toMatchObject({ status: 200 });

      const own = await create({ apiKey: 'own-key-1' });
      expect(await client.put(connectionOf(own), elsewhere)).toMatchObject({ status: 200 });
      expect(await client.patch(`/agents/${own.id}`, { isUsingDefaultApiKey: true })).toMatchObject({ status: 200 });
      const endpoint = await app.nest.get(ConnectionService).endpoint(own.id);
      expect(endpoint).toMatchObject({ protocol: elsewhere.protocol });
      expect(endpoint).not.toHaveProperty('apiKey');
      const personalityId = (await client.post('/personalities', personalityBody())).body.data.id;
      await client.post(`/agents/${own.id}/evaluations`, shortEvaluation({ personalityId }));
      expectError(await client.post(`/agents/${own.id}/runs`, {}), 409, 'CONFLICT', refused);
    },
  );

  it('have their default key stored encrypted', async () => {
    await putDefault('AGENT_PROVIDER_1', 'clear-default');
    const [row] = await sql(app.databaseUrl, 'SELECT * FROM provider_keys WHERE workspace_id = $1', [workspaceId]);
    expect(row?.['api_key']).toMatch(/^test\.[\w-]+$/);
    expect(JSON.stringify(row)).not.toContain('clear-default');
  });
});
