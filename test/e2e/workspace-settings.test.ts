import { randomUUID } from 'node:crypto';
import { ApiKeysService } from '../../src/modules/api-keys/api-keys.service.js';
import { LastUseService } from '../../src/modules/api-keys/last-use.service.js';
import type { FirstKey } from '../../src/modules/api-keys/first-key.service.js';
import { Clock } from '../../src/platform/clock.js';
import { Database } from '../../src/platform/database/database.js';
import { HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('workspace settings', () => {
  let app: TestApp;
  let workspace: FirstKey;
  let admin: HttpClient;

  beforeAll(async () => {
    app = await createTestApp();
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    workspace = await app.createWorkspace({ name: 'Acme', plan: 'PRO', requestsPerMinute: 5000 });
    admin = new HttpClient(app.url, workspace.apiKey);
  });

  const clientOf = async (role: string): Promise<HttpClient> =>
    admin.as((await admin.post('/workspace/api-keys', { name: role, role })).body.data.key);

  describe('the workspace', () => {
    it('can be read by every role', async () => {
      const viewer = await clientOf('VIEWER');
      const { status, body } = await viewer.get('/workspace');
      expect(status).toBe(200);
      expect(body).toEqual({
        message: 'Workspace retrieved successfully',
        data: {
          id: workspace.workspaceId,
          name: 'Acme',
          plan: 'PRO',
          requestsPerMinute: 5000,
          scoreThreshold: null,
          createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          updatedAt: expect.stringMatching(/Z$/),
        },
      });
    });

    it('can be changed only by an ADMIN', async () => {
      for (const role of ['VIEWER', 'EDITOR']) {
        expect((await (await clientOf(role)).patch('/workspace', { name: 'X' })).status).toBe(403);
      }
      const { status, body } = await admin.patch('/workspace', { name: 'Bistro', scoreThreshold: 79.5 });
      expect(status).toBe(200);
      expect(body.data).toMatchObject({ name: 'Bistro', scoreThreshold: 79.5 });
      expect((await admin.patch('/workspace', { scoreThreshold: null })).body.data.scoreThreshold).toBeNull();
      expect((await admin.get('/workspace')).body.data).toMatchObject({ name: 'Bistro', scoreThreshold: null });
    });

    it.each([
      [{ scoreThreshold: -1 }, 'scoreThreshold must not be less than 0'],
      [{ scoreThreshold: 100.1 }, 'scoreThreshold must not be greater than 100'],
      [{ scoreThreshold: '5' }, 'scoreThreshold must be a number'],
      [{ name: '' }, 'name must not be empty'],
      [{ name: null }, 'name must be a string'],
      [{ plan: 'ENTERPRISE' }, 'plan is not a known field'],
      [{ requestsPerMinute: 9 }, 'requestsPerMinute is not a known field'],
    ])('rejects the settings %j', async (body, issue) => {
      const response = await admin.patch('/workspace', body);
      expect(response.status).toBe(400);
      expect(response.body.issues).toEqual([{ message: issue, field: issue.split(' ')[0] }]);
    });
  });

  describe('API keys', () => {
    it('shows the value once', async () => {
      const made = await admin.post('/workspace/api-keys', { name: 'CI' });
      expect(made.status).toBe(201);
      expect(made.body.data).toEqual({
        id: expect.any(String),
        name: 'CI',
        role: 'EDITOR',
        prefix: made.body.data.key.slice(0, 12),
        lastUsedAt: null,
        expiresAt: null,
        createdAt: expect.any(String),
        createdByUserId: workspace.userId,
        key: expect.stringMatching(/^vat_[0-9A-Za-z]{36}$/),
      });
      const { body } = await admin.get('/workspace/api-keys');
      expect(body.meta.total).toBe(2);
      expect(body.data[0]).toMatchObject({ id: made.body.data.id, name: 'CI' });
      expect(JSON.stringify(body)).not.toContain(made.body.data.key);
      for (const key of body.data) expect(key).not.toHaveProperty('key');
    });

    it('rejects an invalid role, name or expiry', async () => {
      const cases: [object, string][] = [
        [{ name: 'x', role: 'OWNER' }, 'role must be one of VIEWER, EDITOR, ADMIN'],
        [{}, 'name must be a string'],
        [
          { name: 'x', expiresAt: 'tomorrow' },
          'expiresAt must be an ISO 8601 date and time such as 2099-12-31T23:59:59Z',
        ],
        [
          { name: 'x', expiresAt: '2099-13-45T00:00:00Z' },
          'expiresAt must be an ISO 8601 date and time such as 2099-12-31T23:59:59Z',
        ],
        [{ name: 'x', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt must be in the future'],
        [{ name: 'x', expiresAt: 5 }, 'expiresAt must be a string'],
      ];
      for (const [body, message] of cases) {
        const response = await admin.post('/workspace/api-keys', body);
        expect(response.status).toBe(400);
        expect(response.body.issues).toEqual([{ message, field: message.split(' ')[0] }]);
      }
    });

    it('rejects a key after its expiry', async () => {
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const { key, expiresAt: returned } = (await admin.post('/workspace/api-keys', { name: 'x', expiresAt })).body
        .data;
      expect(returned).toBe(expiresAt);
      expect((await admin.as(key).get('/workspace')).status).toBe(200);
      const clock = jest.spyOn(app.nest.get(Clock), 'now').mockReturnValue(Date.parse(expiresAt));
      try {
        expect((await admin.as(key).get('/workspace')).body.message).toBe('Expired API key');
      } finally {
        clock.mockRestore();
      }
    });

    it('revokes a key, which then returns 404', async () => {
      const { id, key } = (await admin.post('/workspace/api-keys', { name: 'x' })).body.data;
      expect((await admin.as(key).get('/agents')).status).toBe(200);
      expect((await admin.delete(`/workspace/api-keys/${id}`)).body).toEqual({
        message: 'API key revoked successfully',
      });
      await until('the key is rejected', async () => (await admin.as(key).get('/agents')).status === 401);
      expect((await admin.delete(`/workspace/api-keys/${id}`)).status).toBe(404);
      expect((await admin.get('/workspace/api-keys')).body.meta.total).toBe(1);
    });

    it('keeps the last ADMIN key, ignoring expired keys and lower roles', async () => {
      const [first] = (await admin.get('/workspace/api-keys')).body.data;
      await admin.post('/workspace/api-keys', { name: 'editor' });
      const expiring = (await admin.post('/workspace/api-keys', { name: 'old', role: 'ADMIN' })).body.data;
      await app.nest.get(Database).manager.query(`UPDATE api_keys SET expires_at = now() WHERE id = $1`, [expiring.id]);
      const rejected = await admin.delete(`/workspace/api-keys/${first.id}`);
      expect(rejected.status).toBe(409);
      expect(rejected.body).toEqual({
        code: 'CONFLICT',
        message: 'The last ADMIN key of a workspace cannot be revoked',
      });
    });

    it('keeps one ADMIN key when two admins revoke each other concurrently', async () => {
      for (let round = 0; round < 5; round++) {
        const workspace = await app.createWorkspace();
        const one = new HttpClient(app.url, workspace.apiKey);
        const other = (await one.post('/workspace/api-keys', { name: 'b', role: 'ADMIN' })).body.data;
        const first = (await one.get('/workspace/api-keys')).body.data.find((key: any) => key.id !== other.id);
        const responses = await Promise.all([
          one.delete(`/workspace/api-keys/${other.id}`),
          one.as(other.key).delete(`/workspace/api-keys/${first.id}`),
        ]);
        // The other admin gets 409, or 401 if its key is already revoked.
        expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
        expect(responses.filter(({ status }) => status === 409 || status === 401)).toHaveLength(1);
      }
    });

    it('records the last use without a write per request', async () => {
      const { id, key } = (await admin.post('/workspace/api-keys', { name: 'x' })).body.data;
      const before = Date.now();
      for (let i = 0; i < 5; i++) await admin.as(key).get('/agents');
      const find = async () =>
        (await app.nest.get(ApiKeysService).list(workspace.workspaceId)).find((row) => row.id === id);
      expect((await find())?.lastUsedAt).toBeNull();
      await app.nest.get(LastUseService).flush();
      expect((await find())?.lastUsedAt?.getTime()).toBeGreaterThanOrEqual(before - 1);
    });

    it('are managed only by admins of the workspace', async () => {
      const foreign = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
      const { id } = (await admin.post('/workspace/api-keys', { name: 'x' })).body.data;
      expect((await foreign.delete(`/workspace/api-keys/${id}`)).status).toBe(403);
      expect((await admin.delete(`/workspace/api-keys/${randomUUID()}`)).status).toBe(404);
      expect((await admin.delete('/workspace/api-keys/nope')).status).toBe(404);
      for (const role of ['VIEWER', 'EDITOR']) {
        const client = await clientOf(role);
        expect((await client.get('/workspace/api-keys')).status).toBe(403);
        expect((await client.post('/workspace/api-keys', { name: 'x' })).status).toBe(403);
        expect((await client.delete(`/workspace/api-keys/${id}`)).status).toBe(403);
      }
    });
  });

  describe('default provider keys', () => {
    const agent = { provider: 'AGENT_PROVIDER_2', assistantId: 'a', isUsingDefaultApiKey: true };

    it('are masked in agents that use them, never returned by the settings, and encrypted at rest', async () => {
      expect((await admin.post('/agents', agent)).status).toBe(400);
      const put = await admin.put('/workspace/provider-keys/AGENT_PROVIDER_2', { apiKey: 'default-secret-1' });
      expect(put.status).toBe(200);
      expect(put.body.data).toEqual({ provider: 'AGENT_PROVIDER_2', updatedAt: expect.any(String) });
      const made = (await admin.post('/agents', agent)).body.data;
      expect(made.apiKey).toBe('••••et-1');

      await admin.put('/workspace/provider-keys/AGENT_PROVIDER_2', { apiKey: 'default-secret-2' });
      expect((await admin.get(`/agents/${made.id}`)).body.data.apiKey).toBe('••••et-2');
      const list = (await admin.get('/workspace/provider-keys')).body;
      expect(list).toMatchObject({ meta: { total: 1, page: 1, limit: 25, pageCount: 1 } });
      expect(JSON.stringify(list)).not.toContain('default-secret');
      const rows = await app.nest.get(Database).manager.query('SELECT api_key FROM provider_keys');
      expect(JSON.stringify(rows)).not.toContain('default-secret');

      expect((await admin.delete('/workspace/provider-keys/AGENT_PROVIDER_2')).body).toEqual({
        message: 'Provider key deleted successfully',
      });
      expect((await admin.delete('/workspace/provider-keys/AGENT_PROVIDER_2')).status).toBe(404);
      expect((await admin.get(`/agents/${made.id}`)).body.data.apiKey).toBe('');
    });

    it('rejects unknown providers, invalid keys and lower roles', async () => {
      expect((await admin.put('/workspace/provider-keys/AGENT_PROVIDER_5', { apiKey: 'x' })).status).toBe(404);
      expect((await admin.put('/workspace/provider-keys/AGENT_PROVIDER_1', { apiKey: '' })).status).toBe(400);
      expect((await admin.put('/workspace/provider-keys/AGENT_PROVIDER_1', {})).status).toBe(400);
      const editor = await clientOf('EDITOR');
      expect((await editor.get('/workspace/provider-keys')).status).toBe(403);
      expect((await editor.put('/workspace/provider-keys/AGENT_PROVIDER_1', { apiKey: 'x' })).status).toBe(403);
      expect((await editor.delete('/workspace/provider-keys/AGENT_PROVIDER_1')).status).toBe(403);
    });
  });
});
