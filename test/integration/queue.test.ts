import { randomUUID } from 'node:crypto';
import { Client, Pool } from 'pg';
import { Database } from '../../src/platform/database/database.js';
import { defineJob, type JobContext } from '../../src/platform/queue/job.js';
import { Queue } from '../../src/platform/queue/queue.js';
import { QueueWorker } from '../../src/platform/queue/queue-worker.js';
import { WorkerRegistry } from '../../src/platform/queue/worker-registry.js';
import { SettingsModule } from '../../src/platform/config/settings.module.js';
import { DatabaseModule } from '../../src/platform/database/database.module.js';
import { Global, Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { openDataSource } from '../../src/platform/database/pool.js';
import { readSettings } from '../../src/platform/config/settings.js';
import { eventually } from '../support/receiver.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const NOTE = defineJob<{ text: string }>({ name: 'test.note', kind: 'maintenance' });
const SLOW = defineJob<{ text: string }>({ name: 'test.slow', kind: 'maintenance' });
const FAULTY = defineJob<{ text: string }>({ name: 'test.faulty', kind: 'maintenance', maxAttempts: 5 });

@Global()
@Module({ providers: [Queue, QueueWorker], exports: [Queue, QueueWorker] })
class BareQueueModule {}

describe('job queue', () => {
  let database: TestDatabase;
  let client: Client;
  const processes: INestApplicationContext[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new Client({ connectionString: database.url });
    client.on('error', () => undefined);
    await client.connect();
  });
  afterEach(async () => {
    for (const context of processes.splice(0)) await context.close();
    await client.query('DELETE FROM graphile_worker._private_jobs');
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  /** A process of the service with nothing but its queue. */
  async function startProcess(register: (queue: Queue) => void, role = 'worker'): Promise<INestApplicationContext> {
    const settings = readSettings({ ROLE: role, DATABASE_POOL_SIZE: '3' });
    const dataSource = await openDataSource(createDataSource(database.url, 3));
    class Registration {
      constructor(queue: Queue) {
        register(queue);
      }
    }
    const context = await NestFactory.createApplicationContext(
      {
        module: class TestModule {},
        imports: [SettingsModule.forRoot(settings), DatabaseModule.forRoot(dataSource, database.url), BareQueueModule],
        providers: [{ provide: Registration, useFactory: (queue: Queue) => new Registration(queue), inject: [Queue] }],
      },
      { logger: false, abortOnError: false },
    );
    processes.push(context);
    return context;
  }
  const jobs = async () => (await client.query(`SELECT * FROM graphile_worker.jobs`)).rows;

  it('executes a job only if its transaction is committed', async () => {
    const done: string[] = [];
    const context = await startProcess((queue) => queue.handle(NOTE, async ({ text }) => void done.push(text)));
    const [queue, store] = [context.get(Queue), context.get(Database)];
    await expect(
      store.transaction(async () => {
        await queue.enqueue(NOTE, { text: 'undone' });
        throw new Error('roll back');
      }),
    ).rejects.toThrow('roll back');
    await store.transaction(async () => {
      await queue.enqueue(NOTE, { text: 'committed' });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(done).toEqual([]);
    });
    await queue.enqueue(NOTE, { text: 'at once' });
    await eventually(
      () => done.length,
      (count) => count === 2,
    );
    expect(done).toEqual(['committed', 'at once']);
    await eventually(jobs, (rows) => rows.length === 0);
  });

  it('keeps times, keys and numbers of attempts', async () => {
    const context = await startProcess(() => undefined, 'api');
    const queue = context.get(Queue);
    const later = new Date(Date.now() + 60_000);
    await queue.enqueue(NOTE, { text: 'first' }, { jobKey: 'one' });
    await queue.enqueue(NOTE, { text: 'second' }, { jobKey: 'one', runAt: later, maxAttempts: 2 });
    expect(await jobs()).toMatchObject([{ task_identifier: 'test.note', key: 'one', run_at: later, max_attempts: 2 }]);
    expect((await client.query('SELECT * FROM queue_workers')).rows).toEqual([]);
  });

  it('retries a job whose handler throws', async () => {
    let calls = 0;
    await startProcess((queue) =>
      queue.handle(FAULTY, async () => {
        if (++calls === 1) throw new Error('at first');
      }),
    );
    await processes[0]?.get(Queue).enqueue(FAULTY, { text: '' });
    await eventually(
      () => calls,
      (count) => count === 2,
    );
    await eventually(jobs, (rows) => rows.length === 0);
    expect(calls).toBe(2);
  });

  it('unlocks the jobs of a dead process and keeps those of a living one', async () => {
    const lockedBy = async (pools: string[], seen: string) => {
      const id = randomUUID();
      await client.query(`INSERT INTO queue_workers VALUES ($1, $2, 'elsewhere', 1, now(), now() - $3::interval)`, [
        id,
        pools,
        seen,
      ]);
      return id;
    };
    await lockedBy(['dead'], '21 seconds');
    const alive = await lockedBy(['alive'], '1 second');
    for (const pool of ['dead', 'alive', 'unknown', 'new']) {
      await client.query(`SELECT graphile_worker.add_job('test.note', json_build_object('text', $1::text))`, [pool]);
      await client.query(
        `UPDATE graphile_worker._private_jobs SET locked_by = $1, locked_at = now() - $2::interval, attempts = 1
          WHERE payload ->> 'text' = $1`,
        [pool, pool === 'new' ? '5 seconds' : '21 seconds'],
      );
    }
    const done: string[] = [];
    await startProcess((queue) => queue.handle(NOTE, async ({ text }) => void done.push(text)));
    await eventually(
      () => done.length,
      (count) => count === 2,
    );
    expect(done.sort()).toEqual(['dead', 'unknown']);
    const { rows } = await client.query('SELECT id FROM queue_workers');
    expect(rows.map(({ id }) => id)).toContain(alive);
    expect(rows).toHaveLength(2);
    await client.query('DELETE FROM queue_workers WHERE id = $1', [alive]);
  });

  it('counts a process that was not seen for a while, as if its machine had slept, from its return', async () => {
    const pool = new Pool({ connectionString: database.url });
    const registry = new WorkerRegistry(pool);
    const secondsAfter = async (seen: string): Promise<number> => {
      await registry.heartbeat();
      await pool.query(
        `UPDATE queue_workers SET started_at = now() - interval '1 hour', seen_at = now() - $1::interval`,
        [seen],
      );
      await registry.heartbeat();
      const { rows } = await pool.query(
        `SELECT extract(epoch FROM now() - started_at)::int AS seconds FROM queue_workers`,
      );
      return rows[0].seconds;
    };
    expect(await secondsAfter('19 seconds')).toBeGreaterThanOrEqual(3_600);
    expect(await secondsAfter('21 seconds')).toBeLessThan(60);
    await registry.leave();
    await pool.end();
  });

  it('unlocks jobs of its own fetch whose result was lost', async () => {
    const done: string[] = [];
    const context = await startProcess((queue) => queue.handle(NOTE, async ({ text }) => void done.push(text)));
    const [{ pools }] = await eventually(
      async () =>
        (await client.query<{ pools: string[] }>('SELECT pools FROM queue_workers')).rows as [{ pools: string[] }],
      ([row]) => row.pools.length > 0,
    );
    const later = new Date(Date.now() + 60_000);
    for (const text of ['lost', 'just fetched']) await context.get(Queue).enqueue(NOTE, { text }, { runAt: later });
    await client.query(
      `UPDATE graphile_worker._private_jobs SET locked_by = $1, attempts = 1, run_at = now(),
              locked_at = now() - CASE payload ->> 'text' WHEN 'lost' THEN interval '21 seconds' ELSE interval '1 second' END`,
      [pools[0]],
    );
    await eventually(
      () => done.length,
      (count) => count > 0,
    );
    expect(done).toEqual(['lost']);
  });

  it('keeps the lock of a job that runs for a long time', async () => {
    let started = 0;
    let release = () => undefined as void;
    const released = new Promise<void>((resolve) => (release = resolve));
    const context = await startProcess((queue) =>
      queue.handle(NOTE, async () => {
        started++;
        await released;
      }),
    );
    await context.get(Queue).enqueue(NOTE, { text: '' });
    await eventually(
      () => started,
      (count) => count === 1,
    );
    await client.query(`UPDATE graphile_worker._private_jobs SET locked_at = now() - interval '1 hour'`);
    // As it does every five seconds.
    await context.get<{ sweep(): Promise<void> }>(QueueWorker).sweep();
    expect((await jobs())[0]).toMatchObject({ locked_by: expect.any(String) });
    release();
    await eventually(jobs, (rows) => rows.length === 0);
    expect(started).toBe(1);
  });

  it('waits for running jobs on shutdown and leaves no job locked', async () => {
    let started = 0;
    let ended = 0;
    const context = await startProcess((queue) =>
      queue.handle(SLOW, async () => {
        started++;
        await new Promise((resolve) => setTimeout(resolve, 400));
        ended++;
      }),
    );
    for (let i = 0; i < 6; i++) await context.get(Queue).enqueue(SLOW, { text: String(i) });
    await eventually(
      () => started,
      (count) => count === 1,
    );
    await processes.pop()?.close();
    expect([started, ended]).toEqual([1, 1]);
    const rows = await jobs();
    expect(rows).toHaveLength(5);
    expect(rows.filter((row) => row.locked_by !== null)).toEqual([]);
    expect((await client.query('SELECT * FROM queue_workers')).rows).toEqual([]);
  });

  it('aborts jobs that take too long to end on shutdown', async () => {
    let signal: AbortSignal | undefined;
    const context = await startProcess((queue) =>
      queue.handle(SLOW, async (_, given: JobContext) => {
        signal = given.signal;
        await new Promise<void>((resolve) => given.signal.addEventListener('abort', () => resolve()));
      }),
    );
    await context.get(Queue).enqueue(SLOW, { text: '' });
    await eventually(
      () => signal,
      (given) => given !== undefined,
    );
    const startedAt = performance.now();
    await processes.pop()?.close();
    expect(signal?.aborted).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  it('continues after a database outage', async () => {
    const done: string[] = [];
    const context = await startProcess((queue) =>
      queue.handle(NOTE, async ({ text }) => {
        done.push(text);
        // Completing this job will find no connection.
        if (text === 'before') await client.query(KILL_OTHERS);
      }),
    );
    const pools = async () => (await client.query('SELECT pools FROM queue_workers')).rows;
    await context.get(Queue).enqueue(NOTE, { text: 'before' });
    await eventually(
      () => done.length,
      (count) => count > 0,
    );
    const before = await pools();
    await client.query(KILL_OTHERS);
    await eventually(
      () =>
        context
          .get(Queue)
          .enqueue(NOTE, { text: 'after' })
          .then(
            () => true,
            () => false,
          ),
      (worked) => worked,
    );
    await eventually(
      () => done.includes('after'),
      (found) => found,
    );
    await eventually(jobs, (rows) => rows.length === 0, 30_000);
    expect(done).toContain('after');
    // It has waited: graphile-worker, had it met the errors, would have ended its pool.
    expect(await pools()).toEqual(before);
  });
});

const KILL_OTHERS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;
