import { TranscriptsRepository } from '../../src/modules/retention/transcripts.repository.js';
import { Database } from '../../src/platform/database/database.js';
import { insertRun } from '../factories/rows.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { tablesWith } from '../support/stored-words.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const SAID = 'Zanzibar';
const DAY_MS = 24 * 60 * 60 * 1000;
const RESULT = {
  ...{ outcome: 'passed', score: 100, reason: `${SAID}.`, failure: null, checks: [], criteria: [], invalidity: null },
  timeline: [{ type: 'speech', speaker: 'agent', text: SAID, words: 'known', start: 1, end: 2, turn: 0 }],
  end: { by: 'agent', code: 'agent_hung_up', reason: SAID },
  measures: { durationMs: 5, endReason: SAID },
  ...{ exchange: null, unusableAnswers: [], voice: null },
};
const ATTEMPT = { outcome: 'passed', failureCode: null, reason: SAID, startedAt: 'a', endedAt: 'b' };

describe('deletion of the texts of voice calls', () => {
  let app: TestApp;
  let repository: TranscriptsRepository;

  beforeAll(async () => {
    app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), ROLE: 'api' } });
    repository = app.nest.get(TranscriptsRepository);
  });
  beforeEach(() => query('TRUNCATE runs, calls CASCADE'));
  afterAll(() => app.close());

  const query = (text: string, values: unknown[] = []) => sql<any>(app.databaseUrl, text, values);
  /** @param days since its end; null: it has not ended */
  const runEnded = async (days: number | null, values: object = {}) => {
    const subject = await prepareEvaluations(app);
    const endedAt = days === null ? null : new Date(Date.now() - days * DAY_MS);
    const { manager } = app.nest.get(Database);
    const open = endedAt ? {} : { status: 'RUNNING' };
    return insertRun(manager, subject, subject.agentId, { endedAt, ...open, ...values } as object);
  };
  const addCalls = async (runId: string, calls: number, medium = 'voice') => {
    await query(
      `INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, case_key, position, repetition, status, outcome, score,
                          reason, attempts, lease_expirations, latencies, due_at, changed_in, medium)
       SELECT gen_random_uuid(), r.workspace_id, r.agent_id, r.id, gen_random_uuid(), n, n, 1, 'ENDED', 'passed', 100, $4,
              $5::jsonb, 0, '{800}', now(), 0, $3
         FROM runs r, generate_series(1, $2::int) n WHERE r.id = $1`,
      [runId, calls, medium, `${SAID}.`, JSON.stringify([ATTEMPT])],
    );
    const result = JSON.stringify(RESULT);
    await query('INSERT INTO call_results SELECT id, $2 FROM calls WHERE run_id = $1', [runId, result]);
    await query('INSERT INTO call_attempts SELECT id, 1, $2 FROM calls WHERE run_id = $1', [runId, result]);
  };
  const nothing = () => Promise.resolve();
  const deleteAll = async (deleteFiles: (ids: readonly string[]) => Promise<void> = nothing) => {
    const batches: number[] = [];
    for (;;) {
      const changed = await repository.deleteExpired(7, deleteFiles, nothing);
      if (changed === 0) return batches;
      batches.push(changed);
    }
  };

  it('works in batches, and leaves text calls, runs that go on and younger ones alone', async () => {
    const { id } = await runEnded(8);
    await addCalls(id, 45);
    const files: string[] = [];
    expect(await deleteAll(async (ids) => void files.push(...ids))).toEqual([20, 20, 5, 1]);
    expect(new Set(files).size).toBe(45);
    expect(await tablesWith(app.databaseUrl, SAID)).toEqual([]);
    const [call] = await query('SELECT outcome, score, latencies, transcript_deleted_at FROM calls LIMIT 1');
    expect(call).toEqual({
      ...{ outcome: 'passed', score: 100, latencies: [800], transcript_deleted_at: expect.any(Date) },
    });

    await addCalls((await runEnded(8)).id, 2, 'text');
    for (const days of [6.9, null]) await addCalls((await runEnded(days)).id, 2);
    // The run of text calls is done, too.
    expect(await deleteAll()).toEqual([1]);
    const rows = await query('SELECT count(*)::int AS n FROM call_results WHERE result::text LIKE $1', [`%${SAID}%`]);
    expect(rows[0].n).toBe(6);
  });

  it('changes no row whose files could not be deleted, and continues there', async () => {
    const { id } = await runEnded(8);
    await addCalls(id, 3);
    const failing = repository.deleteExpired(7, () => Promise.reject(new Error('disk')), nothing);
    await expect(failing).rejects.toThrow('disk');
    expect(await query('SELECT 1 FROM calls WHERE transcript_deleted_at IS NOT NULL')).toEqual([]);
    expect(await deleteAll()).toEqual([3, 1]);
  });

  it('follows runs that were derived, also from derived ones, but not before they have ended', async () => {
    const { id } = await runEnded(8);
    const first = await runEnded(1, { derivedFrom: id, derivedKind: 'rejudge' });
    const second = await runEnded(0, { derivedFrom: first.id, derivedKind: 'rejudge' });
    const open = await runEnded(null, { derivedFrom: id, derivedKind: 'rejudge' });
    for (const runId of [id, first.id, second.id, open.id]) await addCalls(runId, 1);
    expect(await deleteAll()).toEqual([1, 1, 1, 1, 1, 1]);
    const left = await query('SELECT run_id FROM calls WHERE transcript_deleted_at IS NULL');
    expect(left).toEqual([{ run_id: open.id }]);
    await query(`UPDATE runs SET status = 'COMPLETED', ended_at = now() WHERE id = $1`, [open.id]);
    expect(await deleteAll()).toEqual([1, 1]);
  });
});
