import { randomBytes, randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { ENCRYPTED_COLUMNS, reEncrypt } from '../../src/admin/re-encrypt.js';
import { agentSecretPurpose } from '../../src/modules/agents/agent.entity.js';
import { KeyRing } from '../../src/platform/encryption/key-ring.js';
import { agentBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { sql, withClient } from '../support/sql.js';
import { handlePurpose } from '../../src/modules/capacity/platform-call.entity.js';
import { createTestApp, TEST_KEY, type TestApp } from '../support/test-app.js';

describe('a rotation of the encryption key', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await createTestApp();
  });
  afterAll(() => app.close());

  /** Columns of any table with a ciphertext under the key. */
  const columnsWith = async (keyId: string): Promise<string[]> => {
    const columns = await sql(
      app.databaseUrl,
      `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type IN ('text', 'character varying', 'jsonb', 'json', 'ARRAY')`,
    );
    const found = columns.map(async ({ table, column }) => {
      const rows = await sql(app.databaseUrl, `SELECT 1 FROM ${table} WHERE ${column}::text ~ $1 LIMIT 1`, [
        `(^|[^A-Za-z0-9_-])${keyId}[.][A-Za-z0-9_-]{38,}`,
      ]);
      return rows.length > 0 ? [`${table}.${column}`] : [];
    });
    return (await Promise.all(found)).flat().sort();
  };

  it('covers every column in which the service stores secrets', async () => {
    const client = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    const succeed = async (response: ReturnType<HttpClient['send']>) => {
      const { status, body } = await response;
      expect([200, 201]).toContain(status);
      return (body as { data: any }).data;
    };
    const secrets = { apiKey: 'api-key-of-the-agent', webhookSecret: 'webhook-secret' };
    const { id } = await succeed(client.post('/agents', agentBody(secrets), { 'Idempotency-Key': 'one' }));
    const connection = { url: 'https://agent.example.com', headers: { Authorization: 'Bearer token-of-the-agent' } };
    await succeed(client.put(`/agents/${id}/connection`, connection));
    await succeed(client.put('/workspace/provider-keys/AGENT_PROVIDER_1', { apiKey: 'default-key-1' }));
    const endpoint = { url: 'https://example.com/hook', events: ['run.completed'] };
    const webhook = await succeed(client.post('/workspace/webhooks', endpoint));
    await succeed(client.post(`/workspace/webhooks/${webhook.id}/rotate-secret`));

    // A call that its platform carries.
    const claimId = randomUUID();
    const sealed = app.keyRing.encrypt('{}', handlePurpose(claimId));
    await withClient(app.databaseUrl, async (database) => {
      // Without the rows that it refers to.
      await database.query(`SET session_replication_role = 'replica'`);
      await database.query(
        `INSERT INTO platform_calls (claim_id, call_id, run_id, workspace_id, agent_id, medium, protocol, bills, attempt,
                                     credential, state, handle, lease_until, end_failures)
         VALUES ($1, $1, $1, $1, $1, 'text', 'chat-completions', true, 1, 'credential', 'placed', $2, now() + interval '1 hour', 0)`,
        [claimId, sealed],
      );
    });

    const columns = ENCRYPTED_COLUMNS.map(({ table, column }) => `${table}.${column}`);
    expect(await columnsWith(TEST_KEY.id)).toEqual([...columns, 'encryption_canary.sealed'].sort());

    const next = { id: 'next', key: randomBytes(32) };
    const { done, left } = await reEncrypt(app.nest.get(DataSource), new KeyRing([next, TEST_KEY]), () => undefined);
    expect(done).toBeGreaterThanOrEqual(columns.length);
    expect([...left]).toEqual([]);
    expect(await columnsWith(TEST_KEY.id)).toEqual([]);
    const [agent] = await sql(app.databaseUrl, 'SELECT api_key FROM agents WHERE id = $1', [id]);
    expect(new KeyRing([next]).decrypt(agent?.['api_key'], agentSecretPurpose(id, 'apiKey'))).toBe(secrets.apiKey);
  });
});
