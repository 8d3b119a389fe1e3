import { randomUUID } from 'node:crypto';
import { access, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RetentionRepository } from '../../src/modules/retention/retention.repository.js';
import { Queue } from '../../src/platform/queue/queue.js';
import { jobContext } from '../support/job-context.js';
import { type InsertedRecording, insertRecording } from '../support/recordings.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const dataDir = path.join(tmpdir(), `vat-recordings-${randomUUID()}`);
const NO_JOBS = { ...callEnv('http://127.0.0.1:9/v1'), ROLE: 'api', DATA_DIR: dataDir };

describe('deletion of recordings', () => {
  let testDatabase: TestDatabase;
  let app: TestApp;
  let subject: Awaited<ReturnType<typeof prepareEvaluations>>;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    app = await createTestApp({ env: NO_JOBS, databaseUrl: testDatabase.url });
    app.nest.get(RetentionRepository).pruneDelayMs = 0;
    subject = await prepareEvaluations(app);
  });
  afterAll(async () => {
    await app.close();
    await testDatabase.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const query = (text: string, values: unknown[] = []) => sql<any>(testDatabase.url, text, values);
  const newCall = async (): Promise<{ id: string; runId: string }> => {
    const run = await subject.client.post(`/agents/${subject.agentId}/runs`, {});
    const runId: string = run.body.data.id;
    return { runId, id: (await subject.client.get(`/runs/${runId}/calls`)).body.data[0].id };
  };
  const newRecording = async () => insertRecording(app.nest, (await newCall()).id);
  const exists = (file: string) =>
    access(file).then(
      () => true,
      () => false,
    );
  const filesOf = async ({ paths }: InsertedRecording) =>
    (await Promise.all([paths.audio, paths.wire, paths.peaks, paths.facts].map(exists))).filter(Boolean).length;
  const rowsOf = async ({ id }: InsertedRecording) =>
    (await query('SELECT count(*)::int AS n FROM recordings WHERE id = $1', [id]))[0].n;
  const age = ({ id }: InsertedRecording, days: number) =>
    query(`UPDATE recordings SET created_at = now() - $2 * interval '1 day' WHERE id = $1`, [id, days]);
  /** Runs a job as a worker process would. */
  const runJob = async (name: string, target = app) => {
    const job = target.nest.get(Queue).handled.find((handled) => handled.job.name === name)!;
    await job.handler({}, jobContext());
  };
  const withEnv = async (env: NodeJS.ProcessEnv, work: (other: TestApp) => Promise<void>) => {
    const other = await createTestApp({ env: { ...NO_JOBS, ...env }, databaseUrl: testDatabase.url });
    try {
      await work(other);
    } finally {
      // Its folder is shared with the other tests.
      other.nest.getHttpServer().closeAllConnections();
      await other.nest.close();
    }
  };

  it('removes rows and files that are older than RECORDING_RETENTION_DAYS; 0 keeps them', async () => {
    const [old, recent] = [await newRecording(), await newRecording()];
    await age(old, 30.1);
    await age(recent, 29.9);
    await withEnv({ RECORDING_RETENTION_DAYS: '0' }, (other) => runJob('recordings.prune', other));
    expect([await filesOf(old), await rowsOf(old)]).toEqual([4, 1]);
    await runJob('recordings.prune');
    expect([await filesOf(old), await rowsOf(old)]).toEqual([0, 0]);
    expect([await filesOf(recent), await rowsOf(recent)]).toEqual([4, 1]);
    // Nothing of it is left, not even an empty folder.
    expect(await exists(path.dirname(old.paths.audio))).toBe(false);
  });

  it('applies when recordings are no longer stored', async () => {
    const old = await newRecording();
    await age(old, 31);
    await withEnv({ RECORDINGS: 'off' }, (other) => runJob('recordings.prune', other));
    expect([await filesOf(old), await rowsOf(old)]).toEqual([0, 0]);
  });

  it('continues after a crash between the files and their rows', async () => {
    const old = await newRecording();
    await age(old, 31);
    await rm(path.dirname(old.paths.audio), { recursive: true });
    await runJob('recordings.prune');
    expect(await rowsOf(old)).toBe(0);
  });

  it('removes the files of a deleted run after its calls, in the process that prunes', async () => {
    const [gone, kept] = [await newRecording(), await newRecording()];
    await subject.client.post(`/runs/${gone.runId}/cancel`);
    expect((await subject.client.delete(`/runs/${gone.runId}`)).status).toBe(200);
    expect(await filesOf(gone)).toBe(4);
    await withEnv({}, async (other) => {
      other.nest.get(RetentionRepository).pruneDelayMs = 0;
      await runJob('runs.prune', other);
    });
    expect([await filesOf(gone), await rowsOf(gone)]).toEqual([0, 0]);
    expect(await exists(path.dirname(gone.paths.audio))).toBe(false);
    expect([await filesOf(kept), await rowsOf(kept)]).toEqual([4, 1]);
  });

  describe('at the start of a process', () => {
    /** Files as a process leaves them behind that dies while it records or before it writes the row. */
    const leftovers = async (runId: string, id = randomUUID()) => {
      const folder = path.join(dataDir, 'recordings', subject.workspaceId, runId);
      await mkdir(folder, { recursive: true });
      const files = ['part', 'ndjson.part', 'wav', 'ndjson', 'peaks.json', 'facts.json.gz'].map((ending) =>
        path.join(folder, `${id}.${ending}`),
      );
      for (const file of files) await writeFile(file, 'x');
      return files;
    };
    const count = async (files: readonly string[]) => (await Promise.all(files.map(exists))).filter(Boolean).length;

    it('removes parts and files without a row, and nothing else', async () => {
      const kept = await newRecording();
      const { id, runId } = await newCall();
      const dead = await leftovers(runId);
      const claim = randomUUID();
      await query(
        `UPDATE calls SET status = 'RUNNING', claim_id = $2, lease_until = now() + interval '1 h' WHERE id = $1`,
        [id, claim],
      );
      const live = await leftovers(runId, claim);
      const ofDeletedRun = await leftovers(randomUUID());
      const others = path.join(path.dirname(dead[0]!), 'notes.txt');
      await writeFile(others, 'x');

      await withEnv({ ROLE: 'worker' }, async () => {
        await until('the files are removed', async () => (await count([...dead, ...ofDeletedRun])) === 0);
      });
      // Even if its lease expires, its process may still end it.
      await query(`UPDATE calls SET lease_until = now() - interval '1 s' WHERE id = $1`, [id]);
      await runJob('recordings.prune');
      expect(await count(live)).toBe(6);
      expect([await filesOf(kept), await rowsOf(kept)]).toEqual([4, 1]);
      expect(await exists(others)).toBe(true);

      await query(`UPDATE calls SET status = 'CANCELLED', claim_id = NULL, lease_until = NULL WHERE id = $1`, [id]);
      await runJob('recordings.prune');
      expect(await count(live)).toBe(0);
    });

    it('keeps the files of workspaces that the database does not know: they belong to another installation', async () => {
      const theirs = path.join(dataDir, 'recordings', randomUUID(), randomUUID(), `${randomUUID()}.wav`);
      await mkdir(path.dirname(theirs), { recursive: true });
      await writeFile(theirs, 'x');
      const { runId } = await newCall();
      const ours = await leftovers(runId);
      await runJob('recordings.prune');
      expect([await count(ours), await exists(theirs)]).toEqual([0, true]);
      await rm(theirs);
    });

    it('queues the removal twice: claims of a process that died count until they are released', async () => {
      await newRecording();
      await query('DELETE FROM graphile_worker._private_jobs');
      await withEnv({ ROLE: 'worker' }, async () => {
        const [later] = await query(
          `SELECT run_at > now() + interval '30 s' AS "isLater" FROM graphile_worker.jobs WHERE key = 'recordings.prune:later'`,
        );
        expect(later).toEqual({ isLater: true });
      });
    });
  });

  it('leaves no folder behind when everything is deleted', async () => {
    await query(`UPDATE recordings SET created_at = now() - interval '31 days'`);
    await runJob('recordings.prune');
    const left = await readdir(path.join(dataDir, 'recordings'), { recursive: true });
    expect(left.filter((name) => /\.(wav|ndjson|part|json|gz)$/.test(name))).toEqual([]);
  });
});
