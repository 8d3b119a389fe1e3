import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { RunEntity } from '../runs/run.entity.js';

/** Runs deleted by one statement. */
const MAX_RUNS = 100;
/** Calls, or evaluations, deleted by one statement. Each can have several megabytes. */
const MAX_ROWS = 100;

/** Removes the runs that `condition` selects for all readers; their calls remain for the prune job. */
const deleteRuns = (condition: string) => `
  WITH gone AS (DELETE FROM runs WHERE ${condition} RETURNING id)
  INSERT INTO deleted_runs (id) SELECT id FROM gone RETURNING id`;

const DELETE_RUN = deleteRuns(`id = $1 AND status NOT IN ('QUEUED', 'RUNNING')`);

/** $1: days since the end of a run; $2: maximum number of runs; $3: whether those of production. */
const DELETE_EXPIRED_RUNS = deleteRuns(`id IN (
  SELECT id FROM runs
   WHERE ended_at < now() - $1 * interval '24 hours' AND status NOT IN ('QUEUED', 'RUNNING')
     AND (origin = 'production') = $3
   ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)`);

/** $1: an agent; $2: maximum number of runs. Nothing starts a run of an agent that is being erased. */
const ERASE_RUNS = deleteRuns('id = ANY (ARRAY(SELECT id FROM runs WHERE agent_id = $1 LIMIT $2))');

/** $1: milliseconds since the deletion. Processes that prune at the same time take different runs. */
const LOCK_DELETED_RUN = `
  SELECT id FROM deleted_runs WHERE deleted_at <= now() - $1 * interval '1 millisecond'
   ORDER BY deleted_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

/** $2: milliseconds since the deletion. */
const IS_COMPLETE = `
  SELECT EXISTS (SELECT 1 FROM runs WHERE id = $1)
      OR EXISTS (SELECT 1 FROM deleted_runs
                  WHERE id = $1 AND deleted_at > now() - $2 * interval '1 millisecond') AS "isComplete"`;

/** A batch that is lost in a crash of the server is deleted again, so it need not wait for the disk. */
const WITHOUT_SYNC = `SELECT set_config('synchronous_commit', 'off', true)`;

/**
 * Their results and attempts are deleted with them. The planner expects few ids in an array; for a subquery it might read
 * the whole table.
 */
const DELETE_CALLS = `
  DELETE FROM calls WHERE id = ANY (ARRAY(SELECT id FROM calls WHERE run_id = $1 ORDER BY position LIMIT $2))
  RETURNING id`;

const DELETE_EVALUATIONS = `
  DELETE FROM run_evaluations WHERE run_id = $1 AND evaluation_id = ANY (ARRAY(
    SELECT evaluation_id FROM run_evaluations WHERE run_id = $1 LIMIT $2)) RETURNING evaluation_id`;

/** The runs that judged a call again first, so that a failure leaves the call. */
const RUNS_OF_IMPORT = `
  WITH RECURSIVE found AS (
    SELECT r.id, 0 AS depth FROM call_imports i JOIN runs r ON r.id = i.run_id
     WHERE i.agent_id = $1 AND i.external_id = $2 AND r.day IS NULL
     UNION SELECT r.id, f.depth + 1 FROM runs r JOIN found f ON r.derived_from = f.id WHERE r.agent_id = $1)
  SELECT id FROM found ORDER BY depth DESC`;

/** The calls with an external id $2 in days of production, and those that judged them again. */
const DELETE_FROM_DAYS = `
  WITH own AS MATERIALIZED (
    SELECT i.call_id AS id FROM call_imports i JOIN runs r ON r.id = i.run_id
     WHERE i.agent_id = $1 AND i.external_id = $2 AND r.day IS NOT NULL)
  DELETE FROM calls c WHERE c.agent_id = $1 AND coalesce(c.recorded_call_id, c.id) IN (SELECT id FROM own)
  RETURNING c.run_id AS "runId"`;

const FORGET_DELETED_RUN = 'DELETE FROM deleted_runs WHERE id = $1';

/** SQL for deleting runs. A deleted run is gone for all readers at once; the rest of its rows follow in batches. */
@Injectable()
export class RetentionRepository {
  /** How long the calls of a deleted run stay for requests that began to read them before, in milliseconds. */
  pruneDelayMs = 60_000;

  constructor(private readonly database: Database) {}

  /** Deletes an ended run. @returns false if it has not ended or does not exist */
  async delete(id: RunEntity['id']): Promise<boolean> {
    return (await this.database.query(DELETE_RUN, [id])).length > 0;
  }

  /** The run of an imported call, after the runs derived from it. */
  async runsOfImport(agentId: string, externalId: string): Promise<string[]> {
    return (await this.database.query<{ id: string }>(RUNS_OF_IMPORT, [agentId, externalId])).map(({ id }) => id);
  }

  /** Deletes a call from the days of production and the runs that judged it again. @returns these runs */
  async deleteFromDays(agentId: string, externalId: string): Promise<string[]> {
    const rows = await this.database.query<{ runId: string }>(DELETE_FROM_DAYS, [agentId, externalId]);
    return [...new Set(rows.map(({ runId }) => runId))];
  }

  /** Deletes a batch of runs that ended more than `days` ago. @returns the number of deleted runs */
  async deleteExpired(days: number, { ofProduction = false } = {}): Promise<number> {
    return (await this.database.query(DELETE_EXPIRED_RUNS, [days, MAX_RUNS, ofProduction])).length;
  }

  /** Deletes a batch of the runs of an agent that is being erased. @returns their number */
  async eraseAgent(agentId: string): Promise<number> {
    return (await this.database.query(ERASE_RUNS, [agentId, MAX_RUNS])).length;
  }

  /** Whether no call of the run has been deleted. */
  async isComplete(runId: string): Promise<boolean> {
    const [row] = await this.database.query<{ isComplete: boolean }>(IS_COMPLETE, [runId, this.pruneDelayMs]);
    return row?.isComplete ?? false;
  }

  /**
   * Deletes a batch of calls or evaluations of a deleted run.
   * @param deleteRest called for a run without calls before it is forgotten: what is not in the database
   * @returns the number of deleted rows
   */
  async prune(deleteRest: (runId: string) => Promise<void> = () => Promise.resolve()): Promise<number> {
    return this.database.transaction(async () => {
      const [run] = await this.database.query<{ id: string }>(LOCK_DELETED_RUN, [this.pruneDelayMs]);
      if (!run) return 0;
      await this.database.query(WITHOUT_SYNC);
      for (const statement of [DELETE_CALLS, DELETE_EVALUATIONS]) {
        const deleted = await this.database.query(statement, [run.id, MAX_ROWS]);
        if (deleted.length > 0) return deleted.length;
      }
      await deleteRest(run.id);
      await this.database.query(FORGET_DELETED_RUN, [run.id]);
      return 1;
    });
  }
}
