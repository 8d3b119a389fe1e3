import { randomUUID } from 'node:crypto';
import { RetentionRepository } from '../../src/modules/retention/retention.repository.js';
import { ResultsService } from '../../src/modules/results/results.service.js';
import { RunsRepository } from '../../src/modules/runs/runs.repository.js';
import type { Caller } from '../../src/platform/access/caller.js';
import { Database } from '../../src/platform/database/database.js';
import { Queue } from '../../src/platform/queue/queue.js';
import { insertRun } from '../factories/rows.js';
import { expectNotFound } from '../support/expect.js';
import { jobContext } from '../support/job-context.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const NO_JOBS = { ...callEnv('http://127.0.0.1:9/v1'), ROLE: 'api' };

/** Deletes step by step: no process executes jobs here, unless a test starts one. */
describe('retention of runs', () => {
  let testDatabase: TestDatabase;
  let app: TestApp;
  let repository: RetentionRepository;
  let database: Database;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    app = await createTestApp({ env: NO_JOBS, databaseUrl: testDatabase.url });
    repository = app.nest.get(RetentionRepository);
    repository.pruneDelayMs = 0;
    database = app.nest.get(Database);
  });
  beforeEach(async () => {
    await query('TRUNCATE runs, deleted_runs, calls, run_evaluations CASCADE');
    await query('DELETE FROM graphile_worker._private_jobs');
  });
  afterAll(async () => {
    await app.close();
    await testDatabase.drop();
  });

  const query = (text: string, values: unknown[] = []) => sql<any>(testDatabase.url, text, values);
  const count = async (table: string): Promise<number> => (await query(`SELECT count(*)::int AS n FROM ${table}`))[0].n;

  /** An agent with runs that ended this many days ago; null: not ended. */
  const runsEnded = async (...days: (number | null)[]) => {
    const subject = await prepareEvaluations(app);
    const ids: string[] = [];
    for (const age of days) {
      const endedAt = age === null ? null : new Date(Date.now() - age * DAY_MS);
      const values = {
        endedAt,
        createdAt: new Date(Date.now() - 400 * DAY_MS),
        ...(!endedAt && { status: 'RUNNING' }),
      };
      ids.push((await insertRun(database.manager, subject, subject.agentId, values as object)).id);
    }
    return { ...subject, ids };
  };
  /** Adds ended calls with results, and a plan of one evaluation for each 50 of them. */
  const addCalls = async (runId: string, calls: number) => {
    await query(
      `INSERT INTO run_evaluations (run_id, evaluation_id, position, snapshot, first_call, cases)
       SELECT $1, gen_random_uuid(), n - 1, '{"name": "Is greeted"}', (n - 1) * 50, 1 FROM generate_series(1, ceil($2::int / 50.0)::int) n`,
      [runId, calls],
    );
    await query(
      `INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, case_key, position, repetition, status, outcome, score,
                          attempts, lease_expirations, latencies, due_at, changed_in)
       SELECT gen_random_uuid(), r.workspace_id, r.agent_id, r.id, e.evaluation_id, e.evaluation_id, e.position * 50 + n - 1, n, 'ENDED',
              'passed', 100, '[]', 0, '{}', now(), 0
         FROM runs r JOIN run_evaluations e ON e.run_id = r.id, generate_series(1, 50) n
        WHERE r.id = $1 AND e.position * 50 + n <= $2::int`,
      [runId, calls],
    );
    await query(`INSERT INTO call_results SELECT id, '{"timeline": []}' FROM calls WHERE run_id = $1`, [runId]);
    await query(`INSERT INTO call_attempts SELECT id, 1, '{"timeline": []}' FROM calls WHERE run_id = $1`, [runId]);
  };
  const pruneAll = async () => {
    const batches: number[] = [];
    for (let size = await repository.prune(); size > 0; size = await repository.prune()) batches.push(size);
    return batches;
  };
  const expectNoCalls = async () => {
    for (const table of ['calls', 'call_results', 'call_attempts', 'run_evaluations', 'deleted_runs'])
      expect(await count(table)).toBe(0);
  };
  /** Runs the prune job as a worker process would. */
  const runJob = async (target: TestApp, signal = new AbortController().signal) => {
    const job = target.nest.get(Queue).handled.find((handled) => handled.job.name === 'runs.prune')!;
    await job.handler({}, jobContext(signal));
  };

  it('deletes runs that ended before the limit, and no others', async () => {
    const { client, agentId, ids } = await runsEnded(366, 364.9, 365.1, null, 0);
    expect(await repository.deleteExpired(365)).toBe(2);
    expect(await repository.deleteExpired(365)).toBe(0);
    const left = (await client.get(`/agents/${agentId}/runs`)).body;
    expect(left.data.map(({ id }: any) => id).sort()).toEqual([ids[1], ids[3], ids[4]].sort());
    expect(left.meta.total).toBe(3);
  });

  it('applies RUN_RETENTION_DAYS; 0 keeps every run', async () => {
    const { client, agentId } = await runsEnded(800, 50, 20);
    const total = async () => (await client.get(`/agents/${agentId}/runs`)).body.meta.total;
    const withDays = async (days: string) => {
      const other = await createTestApp({
        env: { ...NO_JOBS, RUN_RETENTION_DAYS: days },
        databaseUrl: testDatabase.url,
      });
      other.nest.get(RetentionRepository).pruneDelayMs = 0;
      try {
        await runJob(other);
      } finally {
        await other.close();
      }
    };
    await withDays('0');
    expect(await total()).toBe(3);
    await runJob(app);
    expect(await total()).toBe(2);
    await withDays('30');
    expect(await total()).toBe(1);
  });

  it('includes runs of deleted agents', async () => {
    const { client, agentId, ids } = await runsEnded(366);
    await client.delete(`/agents/${agentId}`);
    await runJob(app);
    expectNotFound(await client.get(`/runs/${ids[0]}`));
  });

  it('deletes runs and calls in batches, and keeps those of other runs', async () => {
    const { ids } = await runsEnded(400, 1);
    await addCalls(ids[0]!, 250);
    await addCalls(ids[1]!, 60);
    await repository.deleteExpired(365);
    expect(await pruneAll()).toEqual([100, 100, 50, 5, 1]);
    expect([await count('calls'), await count('call_results'), await count('run_evaluations')]).toEqual([60, 60, 2]);
    expect(await count('deleted_runs')).toBe(0);
    await runsEnded(...Array<number>(130).fill(500));
    expect([await repository.deleteExpired(365), await repository.deleteExpired(365)]).toEqual([100, 30]);
  });

  it('leaves totals of lists equal to their rows', async () => {
    const { agentId } = await runsEnded(400, 400, 3, 2);
    await repository.deleteExpired(365);
    const { rows, total } = await new RunsRepository(database).page(agentId, {}, { limit: 100, offset: 0 });
    expect([rows.length, total]).toEqual([2, 2]);
  });

  it('keeps the calls of a deleted run for a minute, so that requests in progress see all of them', async () => {
    const { ids } = await runsEnded(400, 400);
    for (const id of ids) await addCalls(id, 10);
    await repository.deleteExpired(365);
    repository.pruneDelayMs = 60_000;
    try {
      expect(await repository.prune()).toBe(0);
      await query(`UPDATE deleted_runs SET deleted_at = now() - interval '61 seconds' WHERE id = $1`, [ids[1]]);
      expect(await pruneAll()).toEqual([10, 1, 1]);
      expect(await query('SELECT id FROM deleted_runs')).toEqual([{ id: ids[0] }]);
    } finally {
      repository.pruneDelayMs = 0;
    }
    await pruneAll();
    await expectNoCalls();
  });

  it('is continued by another process after a crash, and nothing is readable in between', async () => {
    const { client, ids } = await runsEnded(1);
    await addCalls(ids[0]!, 250);
    const calls = await query('SELECT id FROM calls');
    expect((await client.delete(`/runs/${ids[0]}`)).status).toBe(200);
    // Killed after the first batch: the job is still in the queue, since it was committed with the deletion.
    await repository.prune();
    expect(await count('calls')).toBe(150);
    for (const { id } of calls.slice(0, 5)) expectNotFound(await client.get(`/calls/${id}`));
    for (const { id } of calls.slice(-5)) expectNotFound(await client.get(`/calls/${id}`));
    const worker = await createTestApp({ env: { ...NO_JOBS, ROLE: 'worker' }, databaseUrl: testDatabase.url });
    worker.nest.get(RetentionRepository).pruneDelayMs = 0;
    try {
      await until('everything is deleted', async () => (await count('deleted_runs')) === 0);
    } finally {
      await worker.close();
    }
    await expectNoCalls();
  });

  it('hands its remaining work to another job when the process shuts down', async () => {
    const { ids } = await runsEnded(400);
    await addCalls(ids[0]!, 250);
    const abort = new AbortController();
    abort.abort();
    await runJob(app, abort.signal);
    const jobs = await query(`SELECT 1 FROM graphile_worker.jobs WHERE key = 'runs.prune'`);
    expect(jobs).toHaveLength(1);
    await runJob(app);
    await expectNoCalls();
  });

  it('is divided among processes that prune at the same time', async () => {
    const { ids } = await runsEnded(400, 401, 402);
    for (const id of ids) await addCalls(id, 220);
    await repository.deleteExpired(365);
    await Promise.all([pruneAll(), pruneAll(), pruneAll()]);
    await pruneAll();
    await expectNoCalls();
  });

  describe('while a report is being written', () => {
    /** Begins to read a run of 60 calls for a report, and deletes the run. @returns how to read the rest */
    const deletedWhileRead = async () => {
      const { client, ids, workspaceId, userId } = await runsEnded(1);
      await addCalls(ids[0]!, 60);
      const caller: Caller = { workspaceId, userId, role: 'ADMIN', apiKeyId: randomUUID(), requestsPerMinute: 1 };
      const { readCalls } = await app.nest.get(ResultsService).read(caller, ids[0]!);
      const calls = readCalls({})[Symbol.asyncIterator]();
      expect((await calls.next()).done).toBe(false);
      await client.delete(`/runs/${ids[0]}`);
      return async () => {
        let read = 1;
        while (!(await calls.next()).done) read++;
        return read;
      };
    };

    it('lets it finish if the calls are still stored', async () => {
      repository.pruneDelayMs = 60_000;
      try {
        const readRest = await deletedWhileRead();
        expect(await repository.prune()).toBe(0);
        expect(await readRest()).toBe(60);
      } finally {
        repository.pruneDelayMs = 0;
      }
    });

    it('interrupts it when calls are missing', async () => {
      const readRest = await deletedWhileRead();
      await pruneAll();
      await expect(readRest()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });
  });
});
