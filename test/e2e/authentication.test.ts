import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiKeysService } from '../../src/modules/api-keys/api-keys.service.js';
import { generateKey } from '../../src/modules/api-keys/key-format.js';
import { WorkspacesService } from '../../src/modules/workspaces/workspaces.service.js';
import type { FirstKey } from '../../src/modules/api-keys/first-key.service.js';
import { expectError } from '../support/expect.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Time limit within which a revocation takes effect in every process. */
const WITHIN_MS = 1000;

function expectUnauthorized(response: ApiResponse<any>, message: string): void {
  expectError(response, 401, 'UNAUTHORIZED', message);
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
}
const expectMissing = (response: ApiResponse<any>) => expectUnauthorized(response, 'Authorization not provided');
const expectUnknown = (response: ApiResponse<any>) => expectUnauthorized(response, 'Invalid API key');

let app: TestApp;
let workspace: FirstKey;

beforeAll(async () => {
  app = await createTestApp();
  workspace = await app.createWorkspace();
});
afterAll(() => app.close());

const as = (key: string, on = app) => new HttpClient(on.url, key).get('/agents');
const withHeader = (authorization: string) => new HttpClient(app.url).get('/agents', { Authorization: authorization });

describe('the Authorization header', () => {
  it('returns 401 if it is missing', async () => expectMissing(await new HttpClient(app.url).get('/agents')));

  it.each(['Bearer', 'Bearer ', 'Bearer    ', 'Basic dTpw', 'Token abc', 'Digest x', 'bearerabc', ',', ''])(
    'returns 401 for "%s", which carries no key',
    async (value) => expectMissing(await withHeader(value)),
  );

  it('returns 401 for a key without a scheme', async () => expectMissing(await withHeader(workspace.apiKey)));

  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('accepts the scheme %s', async (scheme) => {
    expect((await withHeader(`${scheme} ${workspace.apiKey}`)).status).toBe(200);
    expect((await withHeader(`${scheme}   ${workspace.apiKey} `)).status).toBe(200);
  });

  it.each([
    'x',
    'vat_',
    'null',
    'undefined',
    'a b',
    'ä'.repeat(20),
    'x'.repeat(8000),
    "' OR '1'='1",
    `${generateKey()}, Bearer ${generateKey()}`,
  ])('rejects the unknown key "%.40s"', async (key) => expectUnknown(await withHeader(`Bearer ${key}`)));

  it('is not required for the 404 of an unknown path', async () => {
    expectError(await new HttpClient(app.url).get('/nothing'), 404, 'NOT_FOUND', 'Not found');
  });
});

describe('an API key', () => {
  it('is rejected if it is well-formed but was never issued', async () => expectUnknown(await as(generateKey())));

  it('is rejected in another letter case, truncated or extended', async () => {
    const { apiKey } = workspace;
    const swapped = [...apiKey.slice(4)]
      .map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()))
      .join('');
    for (const key of [`vat_${swapped}`, apiKey.slice(0, -1), `${apiKey}0`]) expectUnknown(await as(key));
  });

  it('is stored only as its SHA-256', async () => {
    const { id, value } = await createKey(app, workspace);
    const [row] = await sql(app.databaseUrl, 'SELECT * FROM api_keys WHERE id = $1', [id]);
    expect(row?.['hash']).toBe(createHash('sha256').update(value).digest('hex'));
    expect(JSON.stringify(row)).not.toContain(value.slice(12));
  });

  it('is rejected after it has expired, even if it was in use', async () => {
    const { id, value } = await createKey(app, workspace);
    expect((await as(value)).status).toBe(200);
    await sql(app.databaseUrl, `UPDATE api_keys SET expires_at = now() + interval '2 s' WHERE id = $1`, [id]);
    expect((await as(value)).status).toBe(200);
    // Nothing is written from here on, so the cache itself must check the expiry.
    await until('the key has expired', async () => (await as(value)).status !== 200);
    expectUnknown(await as(value));
  });

  it('has its workspace and role as soon as it is created', async () => {
    const { value } = await createKey(app, workspace, 'VIEWER');
    const client = new HttpClient(app.url, value);
    expect((await client.get('/agents')).status).toBe(200);
    expect((await client.post('/agents', {})).status).toBe(403);
  });

  it('is accepted as soon as it exists, even if it was rejected before', async () => {
    const value = generateKey();
    for (let i = 0; i < 3; i++) expectUnknown(await as(value));
    const { workspaceId, userId } = workspace;
    await app.nest.get(ApiKeysService).create({ workspaceId, userId, name: 'Late', role: 'VIEWER', value });
    await until('the key is known', async () => (await as(value)).status === 200, WITHIN_MS);
  });
});

describe('with two processes on one database', () => {
  let other: TestApp;
  beforeAll(async () => {
    other = await createTestApp({ databaseUrl: app.databaseUrl });
  });
  afterAll(() => other.close());

  /** Uses the key until both processes have cached it. */
  const cacheKey = async (key: string) => {
    for (let i = 0; i < 3; i++) {
      for (const process of [app, other]) expect((await as(key, process)).status).toBe(200);
    }
  };

  it('a revocation takes effect in both within a second', async () => {
    const { id, value } = await createKey(app, workspace);
    await cacheKey(value);
    await app.nest.get(ApiKeysService).revoke(id);
    await sleep(WITHIN_MS);
    for (const process of [app, other]) expectUnknown(await as(value, process));
  });

  it('a revocation by SQL, a changed role and a deleted key take effect in both within a second', async () => {
    const revoked = await createKey(app, workspace);
    const lowered = await createKey(app, workspace, 'EDITOR');
    const deleted = await createKey(app, workspace);
    for (const { value } of [revoked, lowered, deleted]) await cacheKey(value);
    await sql(app.databaseUrl, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [revoked.id]);
    await sql(app.databaseUrl, `UPDATE api_keys SET role = 'VIEWER' WHERE id = $1`, [lowered.id]);
    await sql(app.databaseUrl, 'DELETE FROM api_keys WHERE id = $1', [deleted.id]);
    await sleep(WITHIN_MS);
    for (const process of [app, other]) {
      expectUnknown(await as(revoked.value, process));
      expectUnknown(await as(deleted.value, process));
      expect((await new HttpClient(process.url, lowered.value).post('/agents', {})).status).toBe(403);
    }
  });

  it('a changed plan and a rate override take effect in both within a second', async () => {
    const { workspaceId, apiKey } = await app.createWorkspace({ plan: 'PRO', requestsPerMinute: undefined });
    await cacheKey(apiKey);
    const limits = async () => {
      await sleep(WITHIN_MS);
      const responses = [await as(apiKey), await as(apiKey, other)];
      return responses.map(({ headers }) => headers.get('x-ratelimit-limit'));
    };
    const workspaces = app.nest.get(WorkspacesService);
    await workspaces.setPlan(workspaceId, 'ENTERPRISE');
    expect(await limits()).toEqual(['3000', '3000']);
    await workspaces.setPlan(workspaceId, 'ENTERPRISE', 777);
    expect(await limits()).toEqual(['777', '777']);
  });

  it('a revocation takes effect although the notification connection was killed', async () => {
    const { id, value } = await createKey(app, workspace);
    await cacheKey(value);
    await sql(
      app.databaseUrl,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE '%notifications%'`,
    );
    await app.nest.get(ApiKeysService).revoke(id);
    await sleep(WITHIN_MS);
    for (const process of [app, other]) expectUnknown(await as(value, process));
  });
});
