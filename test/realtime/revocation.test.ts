import { setTimeout as sleep } from 'node:timers/promises';
import { ApiKeysService } from '../../src/modules/api-keys/api-keys.service.js';
import { KeyWatchService } from '../../src/modules/api-keys/key-watch.service.js';
import { Clock } from '../../src/platform/clock.js';
import { type EventStream, openEventStream } from '../support/event-stream.js';
import { expectError } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { delayed, type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

/** How soon a revocation or expiry ends what is in progress, in milliseconds. */
const WITHIN_MS = 1_000;

describe('a key that becomes invalid', () => {
  let database: TestDatabase;
  let agent: ScriptedAgent;
  let app: TestApp;
  /** Another process on the same database. */
  let other: TestApp;
  let owner: Awaited<ReturnType<typeof prepareEvaluations>>;
  let runId: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    agent = await startScriptedAgent(() => delayed(60_000));
    const env = callEnv(agent.url);
    app = await createTestApp({ env, databaseUrl: database.url });
    other = await createTestApp({ env: { ...env, ROLE: 'api' }, databaseUrl: database.url });
    owner = await prepareEvaluations(app);
    runId = (await owner.client.post(`/agents/${owner.agentId}/runs`, {})).body.data.id;
  });
  afterAll(async () => {
    await owner.client.post(`/runs/${runId}/cancel`);
    await app.close();
    await other.close();
    await agent.close();
    await database.drop();
  });

  const newKey = () => createKey(app, owner, 'VIEWER');
  const listen = (key: string): Promise<EventStream> =>
    openEventStream(`${app.url}/runs/${runId}/events`, { Authorization: `Bearer ${key}` });
  const wait = (key: string) => new HttpClient(app.url, key).get(`/runs/${runId}?wait=60`);
  /** Keys that requests in progress depend on. */
  const watched = () => app.nest.get<unknown, { keys: Map<string, unknown> }>(KeyWatchService).keys;
  const isWatched = (id: string) => until('the key is watched', () => watched().has(id));
  /** Waits for the stream and the wait to end. @returns how long that took, in milliseconds */
  const end = async (stream: EventStream, waiting: ReturnType<typeof wait>, message = 'Invalid API key') => {
    const startedAt = performance.now();
    const [response] = await Promise.all([waiting, stream.ended]);
    const took = performance.now() - startedAt;
    expectError(response, 401, 'UNAUTHORIZED', message);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(stream.events.map(({ data }) => data.endedAt ?? null)).not.toContain(expect.any(String));
    return took;
  };

  it('ends its event streams and waits when it is revoked by another process, and no others', async () => {
    const { id, value } = await newKey();
    const [stream, untouched] = [await listen(value), await listen(owner.apiKey)];
    const [waiting, ofOwner] = [wait(value), wait(owner.apiKey)];
    await isWatched(id);
    await sleep(300);
    expect((await new HttpClient(other.url, owner.apiKey).delete(`/workspace/api-keys/${id}`)).status).toBe(200);
    expect(await end(stream, waiting)).toBeLessThan(WITHIN_MS);
    const first = await Promise.race([untouched.ended.then(() => 'ended'), ofOwner, sleep(500, 'in progress')]);
    expect(first).toBe('in progress');
    untouched.disconnect();
  });

  it('ends them when it is revoked by hand in the database', async () => {
    const { id, value } = await newKey();
    const [stream, waiting] = [await listen(value), wait(value)];
    await isWatched(id);
    await sql(database.url, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
    expect(await end(stream, waiting)).toBeLessThan(WITHIN_MS);
  });

  it('ends them when it expires', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { apiKey, value } = await app.nest
      .get(ApiKeysService)
      .create({ workspaceId: owner.workspaceId, userId: owner.userId, name: 'Short', role: 'VIEWER', expiresAt });
    const [stream, waiting] = [await listen(value), wait(value)];
    await isWatched(apiKey.id);
    const clock = jest.spyOn(app.nest.get(Clock), 'now').mockReturnValue(expiresAt.getTime() - 1);
    const first = await Promise.race([stream.ended.then(() => 'ended'), waiting, sleep(500, 'in progress')]);
    expect(first).toBe('in progress');
    clock.mockReturnValue(expiresAt.getTime());
    expect(await end(stream, waiting, 'Expired API key')).toBeLessThan(WITHIN_MS);
    clock.mockRestore();
  });

  it('ends them when the notification of its revocation is lost', async () => {
    const { id, value } = await newKey();
    const [stream, waiting] = [await listen(value), wait(value)];
    await isWatched(id);
    await sql(
      database.url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE '%notifications'`,
    );
    await sql(database.url, 'ALTER TABLE api_keys DISABLE TRIGGER api_keys_changed');
    await sql(database.url, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
    await sql(database.url, 'ALTER TABLE api_keys ENABLE TRIGGER api_keys_changed');
    expect(await end(stream, waiting)).toBeLessThan(WITHIN_MS);
  });

  it('is no longer watched once its requests have ended', async () => {
    await until('the requests of the tests above have ended', () => watched().size <= 1);
    const { id, value } = await newKey();
    const stream = await listen(value);
    await isWatched(id);
    stream.disconnect();
    await until('the key is not watched', () => !watched().has(id));
    // Without a wait nothing depends on the key later.
    expect((await new HttpClient(app.url, value).get(`/runs/${runId}`)).status).toBe(200);
    expect(watched().has(id)).toBe(false);
  });
});
