import type { Client } from 'pg';
import { KeyWatchService } from '../../src/modules/api-keys/key-watch.service.js';
import { Database } from '../../src/platform/database/database.js';
import { openEventStream } from '../support/event-stream.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { delayed, type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { withClient } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Connections of the process; the requests of one workspace may hold six of them. */
const POOL_SIZE = 8;
const SHARE = 6;
const REQUESTS = 200;
/** How soon another workspace must be answered, in milliseconds. The lock ends before the timeout of a connection, 5 s. */
const PROMPT_MS = 4_000;

describe('fair database connections', () => {
  let agent: ScriptedAgent;
  let app: TestApp;
  let busy: Awaited<ReturnType<typeof prepareEvaluations>>;
  let other: Awaited<ReturnType<typeof prepareEvaluations>>;

  beforeAll(async () => {
    agent = await startScriptedAgent(() => delayed(60_000));
    const env = { ...callEnv(agent.url), DATABASE_POOL_SIZE: String(POOL_SIZE) };
    app = await createTestApp({ env });
    [busy, other] = [await prepareEvaluations(app), await prepareEvaluations(app)];
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  const watched = () => app.nest.get<unknown, { keys: Map<string, unknown> }>(KeyWatchService).keys;
  const inUse = () => app.nest.get(Database).poolState;

  /** Runs `work` while the requests of one workspace wait for a lock on its agent's row. @returns their statuses */
  const whileBlocked = (work: () => Promise<void>): Promise<number[]> =>
    withClient(app.databaseUrl, async (client: Client) => {
      await client.query('BEGIN');
      await client.query('SELECT 1 FROM agents WHERE id = $1 FOR UPDATE', [busy.agentId]);
      const requests = Array.from({ length: REQUESTS }, (_, n) =>
        // Most write to the locked row; the rest are reads, which wait for a connection only.
        n % 4 === 3
          ? busy.client.get(`/agents/${busy.agentId}/evaluations`)
          : busy.client.patch(`/agents/${busy.agentId}`, { name: `Name ${n}` }),
      );
      try {
        await until('the requests wait', () => inUse().waiting >= REQUESTS / 2);
        await work();
      } finally {
        await client.query('ROLLBACK');
      }
      return (await Promise.all(requests)).map(({ status }) => status);
    });

  const promptly = async <T>(work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await work();
    expect(performance.now() - startedAt).toBeLessThan(PROMPT_MS);
    return result;
  };

  it('leave a quarter to other workspaces while the requests of one block', async () => {
    const statuses = await whileBlocked(async () => {
      for (let i = 0; i < 2; i++) {
        const list = await promptly(() => other.client.get('/agents'));
        expect(list.status).toBe(200);
        const created = await promptly(() =>
          other.client.post('/personalities', { name: `Personality ${i}` }, { 'Idempotency-Key': `key ${i}` }),
        );
        expect(created.status).toBe(201);
        expect((await promptly(() => new HttpClient(app.url).get('/readyz'))).status).toBe(200);
      }
      // Those of the other requests, and of the service's own queries, are soon free again.
      await until('the busy workspace holds its share alone', () => inUse().total - inUse().idle === SHARE);
    });
    // None of the busy workspace is refused either: they only wait.
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(inUse().waiting).toBe(0);
  });

  it('end the event stream of a revoked key on time while another workspace blocks', async () => {
    const start = async ({ client, agentId }: typeof busy) =>
      (await client.post(`/agents/${agentId}/runs`, {})).body.data.id;
    const listen = (runId: string, key: string) =>
      openEventStream(`${app.url}/runs/${runId}/events`, { Authorization: `Bearer ${key}` });
    const [ofBusy, ofOther] = [await start(busy), await start(other)];
    const { id, value } = await createKey(app, other, 'VIEWER');
    const stream = await listen(ofOther, value);
    let opening: ReturnType<typeof listen> | undefined;
    await whileBlocked(async () => {
      // All watched keys are read because of this request.
      opening = listen(ofBusy, busy.apiKey);
      await until('its key is watched', () => watched().size === 2);
      expect((await other.client.delete(`/workspace/api-keys/${id}`)).status).toBe(200);
      await promptly(() => stream.ended);
    });
    (await opening)?.disconnect();
    for (const [{ client }, runId] of [
      [busy, ofBusy],
      [other, ofOther],
    ] as const) {
      expect((await client.post(`/runs/${runId}/cancel`)).status).toBe(200);
    }
  });
});
