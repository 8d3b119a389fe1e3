import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { RunEntity } from '../run.entity.js';
import { RUN_COLUMNS } from '../runs.columns.js';
import type { PlannedEvaluation } from './plan.js';

/** Evaluations written by one statement, so that serialising large snapshots does not block other requests. */
const BATCH_SIZE = 100;

const INSERT_RUN = `
  INSERT INTO runs AS r (id, workspace_id, agent_id, user_id, label, name, status, score, total_calls, repeat,
                         concurrency, minimum_score, minimum_pass_rate, allowed_uncounted, agent_snapshot, reasons)
  VALUES ($1, $2, $3, $4, 'READ', $5, 'QUEUED', 0, $6, $7, $8, $9, $10, $11, $12, '{}') RETURNING ${RUN_COLUMNS}`;

/** $2: number of waiting calls. */
const IS_FULL = `
  SELECT count(*) >= $2 AS "isFull"
    FROM (SELECT 1 FROM calls WHERE agent_id = $1 AND status = 'QUEUED' LIMIT $2) c`;

/** $2: evaluations and $3: their snapshots, in plan order; $4: position of the first one. */
const INSERT_PLAN = `
  INSERT INTO run_evaluations (run_id, evaluation_id, position, snapshot)
  SELECT $1, e.id, $4::integer + e.ordinal - 1, e.snapshot
    FROM unnest($2::uuid[], $3::jsonb[]) WITH ORDINALITY AS e (id, snapshot, ordinal)`;

/** $4: identifiers and $5: evaluations of the calls, in plan order; $6: calls per evaluation. */
const INSERT_CALLS = `
  INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, position, repetition, status, attempts, lease_expirations,
                     latencies, due_at, changed_in)
  SELECT c.id, $1, $2, $3, c.evaluation_id, c.ordinal - 1, (c.ordinal - 1) % $6::integer + 1, 'QUEUED', '[]', 0, '{}', now(),
         pg_current_xact_id()::text::bigint
    FROM unnest($4::uuid[], $5::uuid[]) WITH ORDINALITY AS c (id, evaluation_id, ordinal)`;

/** The plan of a run; $2: only evaluations with a call that did not pass. */
const READ_PLAN = `
  SELECT e.evaluation_id AS id, e.snapshot FROM run_evaluations e
   WHERE e.run_id = $1 AND (NOT $2::boolean OR EXISTS (
     SELECT 1 FROM calls c WHERE c.run_id = $1 AND c.evaluation_id = e.evaluation_id AND c.outcome IS DISTINCT FROM 'passed'))
   ORDER BY e.position`;

type NewRun = Pick<
  RunEntity,
  | 'id'
  | 'workspaceId'
  | 'agentId'
  | 'userId'
  | 'name'
  | 'totalCalls'
  | 'repeat'
  | 'concurrency'
  | 'minimumScore'
  | 'minimumPassRate'
  | 'allowedUncounted'
  | 'agentSnapshot'
>;

/** SQL for starting runs. */
@Injectable()
export class StartRepository {
  constructor(private readonly database: Database) {}

  /** Whether at least `limit` calls of the agent are waiting. */
  async isFull(agentId: string, limit: number): Promise<boolean> {
    const [row] = await this.database.query<{ isFull: boolean }>(IS_FULL, [agentId, limit]);
    return row?.isFull ?? false;
  }

  /** @param onlyFailed only evaluations with a call that did not pass */
  async readPlan(runId: string, onlyFailed: boolean): Promise<PlannedEvaluation[]> {
    return this.database.query(READ_PLAN, [runId, onlyFailed]);
  }

  async insertRun(run: NewRun): Promise<RunEntity> {
    const values = [
      run.id,
      run.workspaceId,
      run.agentId,
      run.userId,
      run.name,
      run.totalCalls,
      run.repeat,
      run.concurrency,
      run.minimumScore,
      run.minimumPassRate,
      run.allowedUncounted,
      run.agentSnapshot,
    ];
    const [row] = await this.database.query<RunEntity>(INSERT_RUN, values);
    return row!;
  }

  /** @param evaluations in plan order */
  async insertPlan(runId: string, evaluations: readonly PlannedEvaluation[]): Promise<void> {
    for (let at = 0; at < evaluations.length; at += BATCH_SIZE) {
      const batch = evaluations.slice(at, at + BATCH_SIZE);
      const snapshots = batch.map(({ snapshot }) => JSON.stringify(snapshot));
      await this.database.query(INSERT_PLAN, [runId, batch.map(({ id }) => id), snapshots, at]);
    }
  }

  /** @param calls ids of the calls, each with its evaluation, in plan order */
  async insertCalls(
    run: Pick<RunEntity, 'id' | 'workspaceId' | 'agentId' | 'repeat'>,
    calls: { readonly ids: readonly string[]; readonly evaluationIds: readonly string[] },
  ): Promise<void> {
    const { id, workspaceId, agentId, repeat } = run;
    await this.database.query(INSERT_CALLS, [workspaceId, agentId, id, calls.ids, calls.evaluationIds, repeat]);
  }
}
