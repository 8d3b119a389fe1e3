import { ErasedAgentsService } from '../../src/modules/agents/erased-agents.service.js';
import { RetentionRepository } from '../../src/modules/retention/retention.repository.js';
import { Queue } from '../../src/platform/queue/queue.js';
import { Database } from '../../src/platform/database/database.js';
import { agentBody } from '../factories/bodies.js';
import { insertRun, type Owner } from '../factories/rows.js';
import type { HttpClient } from '../support/http.js';
import { jobContext } from '../support/job-context.js';
import { sql } from '../support/sql.js';
import { createWorkspaceApp, type WorkspaceApp } from '../support/workspace-app.js';

/** Erases step by step: no process executes jobs here. */
describe('erasing an agent', () => {
  let app: WorkspaceApp;
  let client: HttpClient;
  let owner: Owner;
  let personalityId: string;

  beforeAll(async () => {
    app = await createWorkspaceApp({ env: { ROLE: 'api' } });
    ({ client, owner } = app);
    app.nest.get(ErasedAgentsService).delayMs = 0;
    personalityId = (await client.post('/personalities', { name: 'Calm' })).body.data.id;
  });
  beforeEach(() => query('DELETE FROM graphile_worker._private_jobs'));
  afterAll(() => app.close());

  const query = (text: string, ...values: unknown[]) => sql<any>(app.databaseUrl, text, values);
  const runJob = async (name: string, signal = new AbortController().signal) => {
    const job = app.nest.get(Queue).handled.find((handled) => handled.job.name === name)!;
    await job.handler({}, jobContext(signal));
  };
  const queued = async (name: string): Promise<number> =>
    (await query('SELECT count(*)::int AS n FROM graphile_worker.jobs WHERE task_identifier = $1', name))[0].n;

  /** An agent with this many runs, evaluations and events. */
  async function agentWith(count: number): Promise<string> {
    const agentId: string = (await client.post('/agents', agentBody())).body.data.id;
    const { id: runId } = await insertRun(app.nest.get(Database).manager, owner, agentId);
    await query(
      `INSERT INTO runs SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*
         FROM runs r, generate_series(2, $2) WHERE r.id = $1`,
      runId,
      count,
    );
    const { id } = (
      await client.post(`/agents/${agentId}/evaluations`, { name: 'One', scenarioText: 'You call.', personalityId })
    ).body.data;
    await query(
      `INSERT INTO evaluations SELECT (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid()))).*
         FROM evaluations e, generate_series(2, $2) WHERE e.id = $1`,
      id,
      count,
    );
    await query(
      `INSERT INTO webhook_events (id, workspace_id, agent_id, type, body)
       SELECT gen_random_uuid(), $1, $2, 'run.completed', '{}' FROM generate_series(1, $3)`,
      owner.workspaceId,
      agentId,
      count,
    );
    return agentId;
  }
  const erase = async (agentId: string) =>
    expect(await client.delete(`/agents/${agentId}?permanently=true`)).toMatchObject({ status: 202 });
  /** Rows of the agent: runs, evaluations, events, the agent. */
  const rowsOf = async (agentId: string): Promise<number[]> => {
    const [row] = await query(
      `SELECT (SELECT count(*)::int FROM runs WHERE agent_id = $1) AS runs,
              (SELECT count(*)::int FROM evaluations WHERE agent_id = $1) AS evaluations,
              (SELECT count(*)::int FROM webhook_events WHERE agent_id = $1) AS events,
              (SELECT count(*)::int FROM agents WHERE id = $1) AS agents`,
      agentId,
    );
    return Object.values<number>(row);
  };
  /** A signal that fires after this many batches, as when the process is shut down. */
  const afterBatches = (count: number): AbortSignal => {
    const controller = new AbortController();
    jest.restoreAllMocks();
    const agents = app.nest.get(ErasedAgentsService);
    const lockNext = agents.lockNext.bind(agents);
    let batches = 0;
    jest.spyOn(agents, 'lockNext').mockImplementation(() => {
      if (++batches === count) controller.abort();
      return lockNext();
    });
    return controller.signal;
  };
  afterEach(() => jest.restoreAllMocks());

  it('deletes in batches, the agent last, and leaves other agents as they are', async () => {
    const [agentId, other] = [await agentWith(130), await agentWith(3)];
    await erase(agentId);
    expect(await rowsOf(agentId)).toEqual([130, 130, 130, 1]);
    await runJob('agents.erase', afterBatches(1));
    expect(await rowsOf(agentId)).toEqual([30, 130, 130, 1]);
    await runJob('agents.erase', afterBatches(2));
    expect(await rowsOf(agentId)).toEqual([0, 30, 130, 1]);
    await runJob('agents.erase', afterBatches(3));
    expect(await rowsOf(agentId)).toEqual([0, 0, 0, 1]);
    // What is not finished is queued again, and so are the calls of the runs.
    expect([(await queued('agents.erase')) > 0, (await queued('runs.prune')) > 0]).toEqual([true, true]);
    expect((await query('SELECT count(*)::int AS n FROM deleted_runs'))[0].n).toBe(130);
    await runJob('agents.erase');
    expect(await rowsOf(agentId)).toEqual([0, 0, 0, 0]);
    expect(await rowsOf(other)).toEqual([3, 3, 3, 1]);
    expect((await client.get(`/agents/${other}/runs`)).body.meta.total).toBe(3);
    expect((await client.get(`/agents/${other}/evaluations`)).body.meta.total).toBe(3);
    expect(await query('SELECT FROM list_deltas WHERE owner_id = $1', agentId)).toEqual([]);
  });

  it('continues where it stopped when a batch fails', async () => {
    const agentId = await agentWith(5);
    await erase(agentId);
    const runs = app.nest.get(RetentionRepository);
    const eraseAgent = runs.eraseAgent.bind(runs);
    const failing = jest.spyOn(runs, 'eraseAgent').mockImplementation(async (id) => {
      await eraseAgent(id);
      throw new Error('The process died');
    });
    await expect(runJob('agents.erase')).rejects.toThrow('The process died');
    // The batch is rolled back, the mark is not.
    expect(await rowsOf(agentId)).toEqual([5, 5, 5, 1]);
    expect((await client.get(`/agents/${agentId}`)).status).toBe(404);
    failing.mockRestore();
    await runJob('agents.erase');
    expect(await rowsOf(agentId)).toEqual([0, 0, 0, 0]);
  });

  it('is shared by jobs that run at the same time', async () => {
    const agents = [await agentWith(120), await agentWith(120), await agentWith(2)];
    for (const agentId of agents) await erase(agentId);
    await Promise.all([runJob('agents.erase'), runJob('agents.erase'), runJob('agents.erase')]);
    for (const agentId of agents) expect(await rowsOf(agentId)).toEqual([0, 0, 0, 0]);
  });

  it('waits for requests that began to read the agent before', async () => {
    const agentId = await agentWith(1);
    const agents = app.nest.get(ErasedAgentsService);
    agents.delayMs = 60_000;
    await erase(agentId);
    await runJob('agents.erase');
    expect(await rowsOf(agentId)).toEqual([1, 1, 1, 1]);
    agents.delayMs = 0;
    await runJob('agents.erase');
    expect(await rowsOf(agentId)).toEqual([0, 0, 0, 0]);
  });

  it('deletes events of an earlier version that were sent to the address of the agent', async () => {
    const agentId = await agentWith(1);
    await query(
      `WITH event AS (UPDATE webhook_events SET agent_id = NULL WHERE agent_id = $1 RETURNING id)
       INSERT INTO webhook_deliveries (id, workspace_id, event_id, agent_id, target_id, status, attempts, tries, is_forced,
                                       is_parked)
       SELECT gen_random_uuid(), $2, id, $1, $1, 'DELIVERED', '[]', 1, false, false FROM event`,
      agentId,
      owner.workspaceId,
    );
    const [{ events }] = await query('SELECT count(*)::int AS events FROM webhook_events');
    await erase(agentId);
    await runJob('agents.erase');
    expect(await rowsOf(agentId)).toEqual([0, 0, 0, 0]);
    expect((await query('SELECT count(*)::int AS events FROM webhook_events'))[0].events).toBe(events - 1);
  });
});
