import { randomUUID } from 'node:crypto';
import { Database } from '../../src/platform/database/database.js';
import { agentBody, fullAgentBody } from '../factories/bodies.js';
import { insertEvaluation, insertRun, type Owner } from '../factories/rows.js';
import { expectForbidden, expectInvalid, expectNotFound, TIMESTAMP, UUID } from '../support/expect.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { sql } from '../support/sql.js';
import { createWorkspaceApp, type WorkspaceApp } from '../support/workspace-app.js';

const NULLABLE = {
  type: null,
  promptType: null,
  name: null,
  language: null,
  phoneNumber: null,
  prompt: null,
  isUsingDefaultApiKey: null,
  webhookUrl: null,
  phoneNumberId: null,
  webhookSecret: null,
};

describe('agents', () => {
  let app: WorkspaceApp;
  let client: HttpClient;
  let owner: Owner;

  beforeAll(async () => {
    app = await createWorkspaceApp();
    ({ client, owner } = app);
  });
  afterAll(() => app.close());

  const create = async (values: object = {}) => {
    const { status, body } = await client.post('/agents', agentBody(values));
    expect(status).toBe(201);
    return body.data;
  };
  const count = async () => (await client.get('/agents?limit=1')).body.meta.total as number;

  describe('POST /agents', () => {
    it('creates an agent with defaults and returns every field of the contract', async () => {
      const { status, body } = await client.post('/agents', agentBody());
      expect(status).toBe(201);
      expect(body).toEqual({
        message: 'Agent created successfully',
        data: {
          ...NULLABLE,
          id: expect.stringMatching(UUID),
          provider: 'AGENT_PROVIDER_1',
          assistantId: 'assistant-1',
          apiKey: 'provider-key-1',
          callMonitoring: false,
          isUsingDefaultApiKey: false,
          workspaceId: owner.workspaceId,
          createdByUserId: owner.userId,
          created_at: expect.stringMatching(TIMESTAMP),
          updated_at: expect.stringMatching(TIMESTAMP),
          deletedAt: null,
        },
      });
    });

    it('stores every field of an agent as sent', async () => {
      const sent = fullAgentBody();
      const { body } = await client.post('/agents', sent);
      expect(body.data).toMatchObject(sent);
      expect((await client.get(`/agents/${body.data.id}`)).body.data).toEqual(body.data);
    });

    it('accepts null for every nullable field', async () => {
      expect(await create({ ...NULLABLE, workspaceId: null, deletedAt: null })).toMatchObject(NULLABLE);
    });

    it.each(['provider', 'assistantId', 'apiKey', 'callMonitoring', 'created_at', 'updated_at', 'createdByUserId'])(
      'rejects null for %s, which is not nullable',
      async (field) => expectInvalid(await client.post('/agents', agentBody({ [field]: null })), field),
    );

    it('accepts server-owned fields and overrides them', async () => {
      const owned = {
        created_at: '2001-01-01T00:00:00.000Z',
        updated_at: '2001-01-01T00:00:00.000Z',
        createdByUserId: randomUUID(),
        deletedAt: '2001-01-01T00:00:00.000Z',
      };
      const agent = await create(owned);
      expect(agent).toMatchObject({ createdByUserId: owner.userId, deletedAt: null });
      expect(agent.created_at).not.toBe(owned.created_at);
      expect(agent.updated_at).not.toBe(owned.updated_at);
    });

    it.each(['created_at', 'updated_at', 'createdByUserId', 'deletedAt'])(
      'still checks the type of %s',
      async (field) => expectInvalid(await client.post('/agents', agentBody({ [field]: 5 })), field),
    );

    it('accepts its own workspaceId in any letter case', async () => {
      for (const workspaceId of [owner.workspaceId, owner.workspaceId.toUpperCase(), null, undefined]) {
        expect(await create({ workspaceId })).toMatchObject({ workspaceId: owner.workspaceId });
      }
    });

    it('rejects the id of another workspace', async () => {
      const { workspaceId } = await app.createWorkspace();
      const before = await count();
      for (const other of [workspaceId, randomUUID(), 'not-a-uuid', '']) {
        expectForbidden(await client.post('/agents', agentBody({ workspaceId: other })));
      }
      expect(await count()).toBe(before);
    });

    it('requires provider, assistantId and apiKey and names all that are missing', async () => {
      for (const field of ['provider', 'assistantId', 'apiKey']) {
        expectInvalid(await client.post('/agents', agentBody({ [field]: undefined })), field);
      }
      expectInvalid(await client.post('/agents', {}), 'provider', 'assistantId', 'apiKey');
    });

    it.each([
      ['provider', ['AGENT_PROVIDER_5', 'agent_provider_1', '', 1, ['AGENT_PROVIDER_1'], {}]],
      ['type', ['inbound', '', 0, []]],
      ['promptType', ['single', 'BOTH', true]],
      ['name', [5, {}, ['x'], 'n'.repeat(256)]],
      ['apiKey', ['', 5, 'k'.repeat(4097)]],
      ['assistantId', ['', 5, 'a'.repeat(256)]],
      ['language', [5, 'l'.repeat(256)]],
      ['phoneNumber', [15550100, '1'.repeat(256)]],
      ['phoneNumberId', [5, 'p'.repeat(256)]],
      ['prompt', [5, 'p'.repeat(100_001)]],
      ['workspaceId', [5, {}]],
      ['callMonitoring', ['true', 0, 1, '']],
      ['isUsingDefaultApiKey', ['false', 0, 1]],
      [
        'webhookUrl',
        ['', 'example.com', 'ftp://example.com', 'javascript:alert(1)', 5, `https://e.com/${'x'.repeat(2048)}`],
      ],
      ['webhookSecret', [5, 's'.repeat(4097)]],
    ])('rejects invalid values of %s', async (field, values) => {
      const before = await count();
      for (const value of values) expectInvalid(await client.post('/agents', agentBody({ [field]: value })), field);
      expect(await count()).toBe(before);
    });

    it('accepts texts of exactly the maximum length, counted in code points', async () => {
      const longest = {
        name: '🍝'.repeat(255),
        apiKey: 'k'.repeat(4096),
        assistantId: 'a'.repeat(255),
        phoneNumber: '1'.repeat(255),
        prompt: 'é'.repeat(100_000),
        webhookUrl: `https://e.com/${'x'.repeat(2034)}`,
        webhookSecret: 's'.repeat(4096),
      };
      expect(await create(longest)).toMatchObject(longest);
    });

    it('names each unknown field', async () => {
      const response = await client.post('/agents', agentBody({ colour: 'red', apikey: 'x', id: randomUUID() }));
      expectInvalid(response, 'colour', 'apikey', 'id');
    });

    it('reports all violations of an agent at once', async () => {
      const response = await client.post('/agents', {
        provider: 'x',
        assistantId: 5,
        apiKey: '',
        type: 'x',
        colour: 1,
      });
      expectInvalid(response, 'provider', 'assistantId', 'apiKey', 'type', 'colour');
    });
  });

  describe('PATCH /agents/{id}', () => {
    it('changes only the given fields of an agent', async () => {
      const before = await create({ name: 'Before', language: 'en-US' });
      const { status, body } = await client.patch(`/agents/${before.id}`, { name: 'After' });
      expect(status).toBe(200);
      expect(body).toEqual({
        message: 'Agent updated successfully',
        data: { ...before, name: 'After', updated_at: expect.stringMatching(TIMESTAMP) },
      });
      expect((await client.get(`/agents/${before.id}`)).body.data).toEqual(body.data);
    });

    it('changes every field that the contract lists', async () => {
      const { id } = await create();
      const changes = fullAgentBody();
      expect((await client.patch(`/agents/${id}`, changes)).body.data).toMatchObject(changes);
      expect((await client.get(`/agents/${id}`)).body.data).toMatchObject(changes);
    });

    it('sets nullable fields to null', async () => {
      const { body } = await client.post('/agents', fullAgentBody());
      expect((await client.patch(`/agents/${body.data.id}`, NULLABLE)).body.data).toMatchObject(NULLABLE);
      expect((await client.get(`/agents/${body.data.id}`)).body.data).toMatchObject(NULLABLE);
    });

    it.each(['provider', 'assistantId', 'apiKey', 'callMonitoring'])('rejects null for %s', async (field) => {
      const { id } = await create();
      expectInvalid(await client.patch(`/agents/${id}`, { [field]: null }), field);
    });

    it('changes nothing for an empty object, and updates updated_at on a change', async () => {
      const { id } = await create();
      const past = '2020-01-01T00:00:00.000Z';
      await sql(app.databaseUrl, 'UPDATE agents SET updated_at = $1, created_at = $1 WHERE id = $2', [past, id]);
      const empty = await client.patch(`/agents/${id}`, {});
      expect(empty.status).toBe(200);
      expect(empty.body.data).toMatchObject({ updated_at: past });
      const { data } = (await client.patch(`/agents/${id}`, { name: 'New' })).body;
      expect(data.created_at).toBe(past);
      expect(data.updated_at > past).toBe(true);
    });

    it('rejects fields that can only be set on create, naming each', async () => {
      const { id } = await create();
      const fixed = { workspaceId: owner.workspaceId, created_at: 'x', updated_at: 'x', createdByUserId: 'x' };
      const response = await client.patch(`/agents/${id}`, { ...fixed, deletedAt: null, id, colour: 'red' });
      expectInvalid(response, ...Object.keys(fixed), 'deletedAt', 'id', 'colour');
    });

    it('changes nothing if one field is invalid', async () => {
      const agent = await create({ name: 'Before' });
      expectInvalid(await client.patch(`/agents/${agent.id}`, { name: 'After', type: 'SIDEWAYS' }), 'type');
      expect((await client.get(`/agents/${agent.id}`)).body.data).toEqual(agent);
    });

    it('loses no update among many concurrent ones', async () => {
      const { id } = await create();
      const changes = {
        name: 'N',
        language: 'de',
        phoneNumber: '+491',
        prompt: 'P',
        callMonitoring: true,
        type: 'INBOUND',
      };
      await Promise.all(Object.entries(changes).map(([k, v]) => client.patch(`/agents/${id}`, { [k]: v })));
      expect((await client.get(`/agents/${id}`)).body.data).toMatchObject(changes);
    });
  });

  describe('DELETE /agents/{id}', () => {
    it('returns the deleted agent with deletedAt', async () => {
      const agent = await create();
      const { status, body } = await client.delete(`/agents/${agent.id}`);
      expect(status).toBe(200);
      const time = expect.stringMatching(TIMESTAMP);
      expect(body).toEqual({
        message: 'Agent deleted successfully',
        data: { ...agent, deletedAt: time, updated_at: time },
      });
      expect(body.data.deletedAt >= agent.created_at).toBe(true);
    });

    it('hides the agent from reads, lists and writes', async () => {
      const agent = await create({ name: 'Gone for good' });
      await client.delete(`/agents/${agent.id}`);
      for (const path of ['', '/evaluations', '/runs']) expectNotFound(await client.get(`/agents/${agent.id}${path}`));
      expectNotFound(await client.patch(`/agents/${agent.id}`, { name: 'Back' }));
      expectNotFound(await client.delete(`/agents/${agent.id}`));
      const { body } = await client.get('/agents?search=gone%20for%20good');
      expect(body).toEqual({ meta: { total: 0, page: 1, limit: 25, pageCount: 0 }, data: [] });
    });

    it('keeps its evaluations and runs readable by id', async () => {
      const { id } = await create();
      const { manager } = app.nest.get(Database);
      const evaluation = await insertEvaluation(manager, owner, id);
      const run = await insertRun(manager, owner, id);
      await client.delete(`/agents/${id}`);
      expect((await client.get(`/evaluations/${evaluation.id}`)).body.data).toMatchObject({ agentId: id });
      expect((await client.get(`/runs/${run.id}/metrics`)).body.data).toMatchObject({ totalCalls: run.totalCalls });
      expect(await sql(app.databaseUrl, 'SELECT deleted_at FROM agents WHERE id = $1', [id])).toEqual([
        { deleted_at: expect.any(Date) },
      ]);
    });

    it('succeeds exactly once among concurrent requests', async () => {
      const { id } = await create();
      const statuses = (await Promise.all(Array.from({ length: 5 }, () => client.delete(`/agents/${id}`)))).map(
        ({ status }) => status,
      );
      expect(statuses.sort()).toEqual([200, 404, 404, 404, 404]);
    });
  });

  describe('webhookUrl', () => {
    const issueOf = ({ status, body }: ApiResponse<any>) => [status, body.issues?.[0]?.message];

    it.each(['http://10.0.0.1/', 'http://[::1]/', 'http://169.254.169.254/latest', 'http://0xa000001/'])(
      'must not point to a private network: %s',
      async (webhookUrl) => {
        const expected = [
          400,
          'webhookUrl must not point to a private or reserved network unless OUTBOUND_ALLOWED_NETWORKS allows it',
        ];
        const before = await count();
        expect(issueOf(await client.post('/agents', agentBody({ webhookUrl })))).toEqual(expected);
        expect(await count()).toBe(before);
        const { id } = await create();
        expect(issueOf(await client.patch(`/agents/${id}`, { webhookUrl }))).toEqual(expected);
        expect((await client.get(`/agents/${id}`)).body.data.webhookUrl).toBeNull();
        expectNotFound(await client.patch(`/agents/${randomUUID()}`, { webhookUrl }));
      },
    );

    it('must not contain a user name or password', async () => {
      const response = await client.post('/agents', agentBody({ webhookUrl: 'https://user:pass@example.com' }));
      expect(issueOf(response)).toEqual([
        400,
        'webhookUrl must be an absolute http or https address without user name and password',
      ]);
    });

    it('can be removed', async () => {
      const { id } = await create({ webhookUrl: 'https://example.com' });
      expect((await client.patch(`/agents/${id}`, { webhookUrl: null })).body.data.webhookUrl).toBeNull();
    });
  });

  it('accepts ids in any letter case and returns the stored form', async () => {
    const { id } = await create();
    const { status, body } = await client.get(`/agents/${id.toUpperCase()}`);
    expect([status, body.message, body.data.id]).toEqual([200, 'Agent retrieved successfully', id]);
  });

  it('stores no credential in clear text', async () => {
    const agent = await create({ apiKey: 'clear-provider-credential', webhookSecret: 'clear-webhook-secret' });
    expect(agent).toMatchObject({ apiKey: 'clear-provider-credential', webhookSecret: 'clear-webhook-secret' });
    const [row] = await sql(app.databaseUrl, 'SELECT * FROM agents WHERE id = $1', [agent.id]);
    expect(JSON.stringify(row)).not.toMatch(/clear-|provider-credential|webhook-secret/);
    expect(row?.['api_key']).toMatch(/^test\.[\w-]+$/);
    expect(row?.['webhook_secret']).toMatch(/^test\.[\w-]+$/);
    await client.patch(`/agents/${agent.id}`, { apiKey: 'clear-second', webhookSecret: 'clear-third' });
    const [changed] = await sql(app.databaseUrl, 'SELECT * FROM agents WHERE id = $1', [agent.id]);
    expect(JSON.stringify(changed)).not.toContain('clear-');
    expect(changed?.['api_key']).not.toBe(row?.['api_key']);
  });
});
