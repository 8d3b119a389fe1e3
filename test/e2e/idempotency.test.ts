import { randomUUID } from 'node:crypto';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { expectError, expectForbidden, expectInvalid } from '../support/expect.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { sql, withClient } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('Idempotency-Key', () => {
  let app: TestApp;
  let client: HttpClient;
  let owner: { workspaceId: string; userId: string };

  beforeAll(async () => {
    app = await createTestApp();
  });
  beforeEach(async () => {
    const { apiKey, ...ids } = await app.createWorkspace();
    owner = ids;
    client = new HttpClient(app.url, apiKey);
  });
  afterAll(() => app.close());

  const post = (key: string, body: unknown = agentBody(), path = '/agents', by = client) =>
    by.post(path, body, { 'Idempotency-Key': key });
  const agents = async () => (await client.get('/agents?limit=1')).body.meta.total as number;
  const isReplayed = ({ headers }: ApiResponse<any>) => headers.get('idempotent-replayed');

  it('replays the first response for the second request, which writes nothing', async () => {
    const key = randomUUID();
    const first = await post(key);
    const second = await post(key);
    expect([first.status, isReplayed(first)]).toEqual([201, null]);
    expect([second.status, isReplayed(second)]).toEqual([201, 'true']);
    expect(second.body).toEqual(first.body);
    expect(await agents()).toBe(1);
  });

  it('replays the first response even after the agent has changed', async () => {
    const key = randomUUID();
    const first = await post(key);
    await client.patch(`/agents/${first.body.data.id}`, { name: 'Changed' });
    expect((await post(key)).body).toEqual(first.body);
  });

  it('returns 422 if it is reused with another body', async () => {
    const key = randomUUID();
    await post(key);
    const response = await post(key, agentBody({ name: 'Other' }));
    expect(response.status).toBe(422);
    expect(response.body).toEqual({
      code: 'UNPROCESSABLE_CONTENT',
      message: expect.any(String),
      issues: [{ message: 'Idempotency-Key was used with another body' }],
    });
    expect(isReplayed(response)).toBeNull();
    expect(await agents()).toBe(1);
  });

  it('is scoped to the workspace, method and path', async () => {
    const key = randomUUID();
    const first = await post(key);
    const other = client.as((await app.createWorkspace()).apiKey);
    const otherWorkspace = await post(key, agentBody(), '/agents', other);
    expect([otherWorkspace.status, isReplayed(otherWorkspace)]).toEqual([201, null]);
    expect(otherWorkspace.body.data.id).not.toBe(first.body.data.id);
    expect((await post(key, personalityBody(), '/personalities')).status).toBe(201);
    const changed = await client.patch(`/agents/${first.body.data.id}`, { name: 'x' }, { 'Idempotency-Key': key });
    expect([changed.status, isReplayed(changed)]).toEqual([200, null]);
  });

  it('is shared by the API keys of a workspace, but does not bypass their roles', async () => {
    const key = randomUUID();
    await post(key);
    const editor = client.as((await createKey(app, owner, 'EDITOR')).value);
    expect(isReplayed(await post(key, agentBody(), '/agents', editor))).toBe('true');
    expectForbidden(await post(key, agentBody(), '/agents', client.as((await createKey(app, owner, 'VIEWER')).value)));
  });

  describe('of a request whose response shows a secret once', () => {
    const created = async (path: string, body: object) => (await client.post<any>(path, body)).body.data.id as string;
    const webhook = { url: 'https://example.com', events: ['run.failed'] };

    it.each<[string, () => Promise<string> | string, object | undefined, string]>([
      ['POST /workspace/api-keys', () => '/workspace/api-keys', { name: 'CI' }, 'key'],
      ['POST /workspace/webhooks', () => '/workspace/webhooks', webhook, 'secret'],
      [
        'POST /workspace/webhooks/{id}/rotate-secret',
        async () => `/workspace/webhooks/${await created('/workspace/webhooks', webhook)}/rotate-secret`,
        undefined,
        'secret',
      ],
      [
        'POST /agents/{id}/page-links',
        async () => `/agents/${await created('/agents', agentBody())}/page-links`,
        { expiresInHours: 1 },
        'url',
      ],
    ])('replays %s only to the API key that sent it', async (_, prepare, body, secret) => {
      const path = await prepare();
      const key = randomUUID();
      const send = (by: HttpClient) => by.post(path, body, { 'Idempotency-Key': key });
      const first = await send(client);
      expect(first.body.data[secret]).toEqual(expect.any(String));
      const other = await send(client.as((await createKey(app, owner, 'ADMIN')).value));
      expectError(
        other,
        409,
        'CONFLICT',
        'Another API key used this Idempotency-Key, and the response showed a secret that is shown once',
      );
      expect(isReplayed(other)).toBeNull();
      const again = await send(client);
      expect([isReplayed(again), again.body]).toEqual(['true', first.body]);
      // Stored by an earlier version, which did not record the API key.
      await sql(app.databaseUrl, 'UPDATE idempotency_keys SET api_key_id = NULL');
      expect((await send(client)).status).toBe(409);
    });

    it('is covered above for every operation of the OpenAPI document', async () => {
      const { paths, components } = (await client.get('/openapi.json')).body;
      const showing = Object.entries<any>(paths).flatMap(([path, { post: operation }]) => {
        const shown = JSON.stringify(operation?.responses ?? {}).match(/#\/components\/schemas\/\w+/g) ?? [];
        const schemas = shown.map((ref) => JSON.stringify(components.schemas[ref.split('/')[3] ?? '']));
        return schemas.some((schema) => schema.includes('only shown in this response')) ? [`POST ${path}`] : [];
      });
      expect(showing.sort()).toEqual([
        'POST /agents/{id}/page-links',
        // By report-links.test.ts.
        'POST /runs/{id}/report-links',
        'POST /workspace/api-keys',
        'POST /workspace/webhooks',
        'POST /workspace/webhooks/{id}/rotate-secret',
      ]);
    });
  });

  it('can be reused after a request that failed', async () => {
    const key = randomUUID();
    expectInvalid(await post(key, agentBody({ type: 'x' })), 'type');
    expectForbidden(await post(key, agentBody({ workspaceId: randomUUID() })));
    expectInvalid(await post(key, agentBody({ apiKey: undefined, isUsingDefaultApiKey: true })), 'apiKey');
    const response = await post(key);
    expect([response.status, isReplayed(response)]).toEqual([201, null]);
  });

  it('may have 1 to 255 characters', async () => {
    expect((await post('k'.repeat(255))).status).toBe(201);
    for (const key of ['', 'k'.repeat(256)]) expectInvalid(await post(key), 'Idempotency-Key');
  });

  it('is optional: without it every request writes', async () => {
    await client.post('/agents', agentBody());
    await client.post('/agents', agentBody());
    expect(await agents()).toBe(2);
  });

  it('returns 409 while the first request is in progress', async () => {
    const key = randomUUID();
    await withClient(app.databaseUrl, async (blocker) => {
      await blocker.query('BEGIN');
      await blocker.query('LOCK TABLE agents IN SHARE MODE');
      const first = post(key);
      await until('the first request waits for the table', async () => {
        const text = `SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                       WHERE d.datname = current_database() AND NOT l.granted`;
        return (await sql(app.databaseUrl, text)).length > 0;
      });
      const responses = await Promise.all([post(key), post(key), post(key, agentBody({ name: 'other' }))]);
      for (const response of responses) {
        expectError(response, 409, 'CONFLICT', 'A request with this Idempotency-Key is still in progress');
      }
      await blocker.query('COMMIT');
      expect((await first).status).toBe(201);
    });
    expect(isReplayed(await post(key))).toBe('true');
    expect(await agents()).toBe(1);
  });

  it('creates one row for many concurrent requests', async () => {
    const key = randomUUID();
    const responses = await Promise.all(Array.from({ length: 20 }, () => post(key)));
    expect(await agents()).toBe(1);
    const created = responses.filter(({ status }) => status === 201);
    expect(created.filter((response) => isReplayed(response) === null)).toHaveLength(1);
    expect(new Set(created.map(({ body }) => body.data.id)).size).toBe(1);
    expect(responses.every(({ status }) => status === 201 || status === 409)).toBe(true);
  });

  it('expires after 24 hours', async () => {
    const key = randomUUID();
    const first = await post(key);
    const [{ hours } = { hours: 0 }] = await sql<{ hours: number }>(
      app.databaseUrl,
      'SELECT extract(epoch FROM max(expires_at) - now())::float8 / 3600 AS hours FROM idempotency_keys',
    );
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThanOrEqual(24.01);
    await sql(app.databaseUrl, `UPDATE idempotency_keys SET expires_at = now() - interval '1 ms'`);
    const again = await post(key, agentBody({ name: 'even with another body' }));
    expect([again.status, isReplayed(again)]).toEqual([201, null]);
    expect(again.body.data.id).not.toBe(first.body.data.id);
    expect(isReplayed(await post(key, agentBody({ name: 'even with another body' })))).toBe('true');
  });

  it('is deleted after it has expired, by a later request', async () => {
    for (let i = 0; i < 3; i++) await post(randomUUID());
    await sql(app.databaseUrl, `UPDATE idempotency_keys SET expires_at = now() - interval '1 ms'`);
    await post(randomUUID());
    const [row] = await sql(app.databaseUrl, 'SELECT count(*)::int AS count FROM idempotency_keys');
    expect(row).toEqual({ count: 1 });
  });

  it('is stored as a digest, with an encrypted response', async () => {
    const key = `in-clear-${randomUUID()}`;
    await post(key, agentBody({ apiKey: 'clear-credential', webhookSecret: 'clear-secret' }));
    const rows = await sql(app.databaseUrl, 'SELECT * FROM idempotency_keys');
    expect(JSON.stringify(rows)).not.toMatch(/clear/);
    expect(rows.every((row) => /^test\.[\w-]+$/.test(row['response']))).toBe(true);
  });

  describe('is stored in the transaction of the write', () => {
    const withBrokenTable = async (table: string, check: () => Promise<void>) => {
      const name = `broken_${table}`;
      await sql(app.databaseUrl, `ALTER TABLE ${table} ADD CONSTRAINT ${name} CHECK (false) NOT VALID`);
      try {
        await check();
      } finally {
        await sql(app.databaseUrl, `ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
      }
    };

    it('so that no row is created if the response cannot be stored', async () => {
      const key = randomUUID();
      await withBrokenTable('idempotency_keys', async () => {
        expectError(await post(key), 500, 'INTERNAL_SERVER_ERROR', 'Internal server error');
        expectError(
          await post(key, personalityBody(), '/personalities'),
          500,
          'INTERNAL_SERVER_ERROR',
          'Internal server error',
        );
      });
      expect(await agents()).toBe(0);
      expect((await client.get('/personalities')).body.meta.total).toBe(0);
      expect((await post(key)).status).toBe(201);
    });

    it('so that no response is stored if the row cannot be written', async () => {
      const key = randomUUID();
      await withBrokenTable('agents', async () => {
        expectError(await post(key), 500, 'INTERNAL_SERVER_ERROR', 'Internal server error');
      });
      const response = await post(key);
      expect([response.status, isReplayed(response)]).toEqual([201, null]);
    });
  });
});
