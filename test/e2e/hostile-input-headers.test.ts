import { randomUUID } from 'node:crypto';
import { ApiKeysService } from '../../src/modules/api-keys/api-keys.service.js';
import { violationsOf } from '../support/hostile/response-checks.js';
import { RawConnection, WireClient } from '../support/hostile/wire.js';
import { HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const AGENT = { provider: 'AGENT_PROVIDER_1', assistantId: 'assistant-1', apiKey: 'provider-key-1' };

describe('hostile headers', () => {
  let app: TestApp;
  let client: HttpClient;
  let workspaceId: string;
  let userId: string;

  beforeAll(async () => {
    app = await createTestApp();
    const workspace = await app.createWorkspace();
    ({ workspaceId, userId } = workspace);
    client = new HttpClient(app.url, workspace.apiKey);
  });
  afterAll(() => app.close());

  const create = (path: string, body: object | string, headers?: Record<string, string>) =>
    client.post<{ code?: string; data: Record<string, unknown> }>(path, body, headers);

  describe('Authorization and X-Request-Id', () => {
    it('accepts the scheme in any letter case, followed by exactly one key', async () => {
      const { apiKey } = await app.createWorkspace();
      const statusOf = async (value: string) =>
        (await client.as(undefined).get('/agents', { Authorization: value })).status;
      for (const value of [`Bearer ${apiKey}`, `bearer ${apiKey}`, `BEARER   ${apiKey}`])
        expect(await statusOf(value)).toBe(200);
      for (const value of [
        apiKey,
        `Token ${apiKey}`,
        `Bearer${apiKey}`,
        `Bearer "${apiKey}"`,
        `Bearer ${apiKey}, Bearer ${apiKey}`,
        `Bearer ${apiKey}x`,
      ]) {
        expect([value, await statusOf(value)]).toEqual([value, 401]);
      }
    });

    it('uses only the first of two Authorization headers', async () => {
      const { apiKey } = await app.createWorkspace();
      const connection = await RawConnection.open(app.url);
      connection.send(
        `GET /agents HTTP/1.1\r\nHost: x\r\nAuthorization: Basic eA==\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`,
      );
      const response = (await connection.nextResponse())!;
      connection.close();
      expect(response.status).toBe(401);
      expect(violationsOf(response)).toEqual([]);
    });

    it('keeps a valid X-Request-Id and replaces an invalid one', async () => {
      const wire = new WireClient(new URL(app.url), 10_000);
      for (const [value, kept] of [
        ['a.B_9-', true],
        ['x'.repeat(128), true],
        ['x'.repeat(129), false],
        ['a b', false],
        ['é', false],
        ['', false],
        ['a\tb', false],
      ] as const) {
        const response = await wire.send({ method: 'GET', target: '/healthz', headers: [['X-Request-Id', value]] });
        expect(violationsOf(response)).toEqual([]);
        expect([value, response.headers.get('x-request-id') === value]).toEqual([value, kept]);
      }
      wire.close();
    });
  });

  describe('Idempotency-Key', () => {
    const total = async () => (await client.get<{ meta: { total: number } }>('/personalities?limit=1')).body.meta.total;
    const withKey = (key: string) => ({ 'Idempotency-Key': key });

    it('executes one of many parallel requests', async () => {
      const before = await total();
      const responses = await Promise.all(
        Array.from({ length: 40 }, () => create('/personalities', { name: 'Once' }, withKey('parallel'))),
      );
      expect(await total()).toBe(before + 1);
      const created = responses.filter(({ status }) => status === 201);
      expect(new Set(created.map(({ body }) => body.data['id'])).size).toBe(1);
      expect(created.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
      expect(
        responses
          .filter(({ status }) => status !== 201)
          .every(({ status, body }) => status === 409 && body.code === 'CONFLICT'),
      ).toBe(true);
    });

    it('is bound to one body, path and workspace', async () => {
      const first = await create('/personalities', { name: 'One' }, withKey('scope'));
      expect(first.status).toBe(201);
      expect((await create('/personalities', { name: 'Two' }, withKey('scope'))).status).toBe(422);
      expect((await create('/agents', AGENT, withKey('scope'))).status).toBe(201);
      const other = client.as((await app.createWorkspace()).apiKey);
      const otherWorkspace = await other.post<{ data: { id: string } }>(
        '/personalities',
        { name: 'One' },
        withKey('scope'),
      );
      expect([otherWorkspace.status, otherWorkspace.headers.get('idempotent-replayed')]).toEqual([201, null]);
      expect(otherWorkspace.body.data.id).not.toBe(first.body.data['id']);
      const again = await create('/personalities', { name: 'One' }, withKey('scope'));
      expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([201, 'true', first.body]);
    });

    it('is not used up by a request that failed', async () => {
      expect((await create('/personalities', { name: '' }, withKey('failed'))).status).toBe(400);
      expect((await create('/personalities', '{', withKey('failed'))).status).toBe(400);
      expect((await create('/personalities', { name: 'x', workspaceId: randomUUID() }, withKey('failed'))).status).toBe(
        403,
      );
      expect((await create('/personalities', { name: 'Now right' }, withKey('failed'))).status).toBe(201);
    });

    it('does not replay to a key that may not write', async () => {
      expect((await create('/personalities', { name: 'Role' }, withKey('role'))).status).toBe(201);
      const viewer = await app.nest.get(ApiKeysService).create({ workspaceId, userId, name: 'Reads', role: 'VIEWER' });
      expect((await client.as(viewer.value).post('/personalities', { name: 'Role' }, withKey('role'))).status).toBe(
        403,
      );
    });

    it('may have 1 to 255 characters of any kind that a header allows', async () => {
      const wire = new WireClient(new URL(app.url), 10_000);
      const statusOf = async (key: string) => {
        const headers: [string, string][] = [
          ['Authorization', `Bearer ${(await app.createWorkspace()).apiKey}`],
          ['Content-Type', 'application/json'],
          ['Idempotency-Key', key],
        ];
        const response = await wire.send({
          method: 'POST',
          target: '/personalities',
          headers,
          body: Buffer.from('{"name":"x"}'),
        });
        expect(violationsOf(response)).toEqual([]);
        return response.status;
      };
      for (const key of ['k', 'x'.repeat(255), '\u00e9\u00ff', '__proto__', "';--"])
        expect([key, await statusOf(key)]).toEqual([key, 201]);
      for (const key of ['', ' ', 'x'.repeat(256)]) expect([key, await statusOf(key)]).toEqual([key, 400]);
      wire.close();
    });

    it('has no effect on the 404 of an unknown path', async () => {
      for (const key of ['k', 'x'.repeat(256)]) expect((await create('/nowhere', {}, withKey(key))).status).toBe(404);
    });
  });
});
