import { ApiKeysService } from '../../src/modules/api-keys/api-keys.service.js';
import type { FirstKey } from '../../src/modules/api-keys/first-key.service.js';
import { generateKey } from '../../src/modules/api-keys/key-format.js';
import { WorkspacesService } from '../../src/modules/workspaces/workspaces.service.js';
import { expectError } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Time limit within which a change of a key takes effect in every process, in milliseconds. */
const WITHIN_MS = 1_000;

describe('with two processes on one database', () => {
  let app: TestApp;
  let other: TestApp;
  let workspace: FirstKey;
  beforeAll(async () => {
    app = await createTestApp();
    other = await createTestApp({ databaseUrl: app.databaseUrl });
    workspace = await app.createWorkspace();
  });
  afterAll(async () => {
    await other.close();
    await app.close();
  });

  const as = (key: string, on = app) => new HttpClient(on.url, key).get('/agents');
  /** Uses the key until both processes have cached it. */
  const cacheKey = async (key: string) => {
    for (let i = 0; i < 3; i++) {
      for (const process of [app, other]) expect((await as(key, process)).status).toBe(200);
    }
  };
  /** Waits at most a second until a condition holds for both processes. */
  const inBoth = (what: string, holds: (process: TestApp) => Promise<boolean>) =>
    until(
      `${what} in both processes`,
      async () => (await Promise.all([app, other].map(holds))).every(Boolean),
      WITHIN_MS,
    );
  const expectRejectedInBoth = async (key: string) => {
    await inBoth('the key is rejected', async (process) => (await as(key, process)).status === 401);
    for (const process of [app, other]) expectError(await as(key, process), 401, 'UNAUTHORIZED', 'Invalid API key');
  };

  it('a key is accepted as soon as it exists, even if it was rejected before', async () => {
    const value = generateKey();
    for (let i = 0; i < 3; i++) expectError(await as(value), 401, 'UNAUTHORIZED', 'Invalid API key');
    const { workspaceId, userId } = workspace;
    await app.nest.get(ApiKeysService).create({ workspaceId, userId, name: 'Late', role: 'VIEWER', value });
    await inBoth('the key is accepted', async (process) => (await as(value, process)).status === 200);
  });

  it('a revocation takes effect in both within a second', async () => {
    const { id, value } = await createKey(app, workspace);
    await cacheKey(value);
    await app.nest.get(ApiKeysService).revoke(id);
    await expectRejectedInBoth(value);
  });

  it('a revocation by SQL, a changed role and a deleted key take effect in both within a second', async () => {
    const revoked = await createKey(app, workspace);
    const lowered = await createKey(app, workspace, 'EDITOR');
    const deleted = await createKey(app, workspace);
    for (const { value } of [revoked, lowered, deleted]) await cacheKey(value);
    await sql(app.databaseUrl, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [revoked.id]);
    await sql(app.databaseUrl, `UPDATE api_keys SET role = 'VIEWER' WHERE id = $1`, [lowered.id]);
    await sql(app.databaseUrl, 'DELETE FROM api_keys WHERE id = $1', [deleted.id]);
    await inBoth(
      'the role is lowered',
      async (process) => (await new HttpClient(process.url, lowered.value).post('/agents', {})).status === 403,
    );
    for (const { value } of [revoked, deleted]) await expectRejectedInBoth(value);
  });

  it('a changed plan and a rate override take effect in both within a second', async () => {
    const { workspaceId, apiKey } = await app.createWorkspace({ plan: 'PRO', requestsPerMinute: undefined });
    await cacheKey(apiKey);
    const expectLimit = (limit: string) =>
      inBoth(`the limit is ${limit}`, async (process) => {
        return (await as(apiKey, process)).headers.get('x-ratelimit-limit') === limit;
      });
    const workspaces = app.nest.get(WorkspacesService);
    await workspaces.setPlan(workspaceId, 'ENTERPRISE');
    await expectLimit('3000');
    await workspaces.setPlan(workspaceId, 'ENTERPRISE', 777);
    await expectLimit('777');
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
    await expectRejectedInBoth(value);
  });
});
