import { Injectable } from '@nestjs/common';
import { PROTOCOLS, RECORDING } from '../../../libs/simulation/index.js';
import { Database } from '../../platform/database/database.js';
import type { CallEntity } from '../runs/call.entity.js';
import { CALLS_DUE } from '../runs/runs.service.js';
import type { RunEntity } from '../runs/run.entity.js';
import type { PlannedEvaluation } from './plan.js';

/** Evaluations written by one statement, so that serialising large snapshots does not block other requests. */
const BATCH_SIZE = 100;
/** Cases whose calls are written by one statement; each may have a row of variables. */
const CASES_PER_STATEMENT = 500;

/** $2: number of waiting calls. */
const IS_FULL = `
  SELECT count(*) >= $2 AS "isFull"
    FROM (SELECT 1 FROM runs r JOIN calls c ON c.run_id = r.id AND c.status = 'QUEUED'
           WHERE r.agent_id = $1 AND r.status IN ('QUEUED', 'RUNNING') LIMIT $2) c`;

/** $2: evaluations, $3: their snapshots, $4: their first calls and $5: numbers of cases, in plan order; $6: position of the first one. */
const INSERT_PLAN = `
  INSERT INTO run_evaluations (run_id, evaluation_id, position, snapshot, first_call, cases)
  SELECT $1, e.id, $6::integer + e.ordinal - 1, e.snapshot, e.first_call, e.cases
    FROM unnest($2::uuid[], $3::jsonb[], $4::integer[], $5::integer[])
         WITH ORDINALITY AS e (id, snapshot, first_call, cases, ordinal)`;

/**
 * $4: ids of the calls; $5: evaluations, $6: keys and $7: rows of the cases, in plan order; $8: calls per case; $9: position of
 * the first call; $10: protocol; $11: medium; $12: whether they are billed; $13: whether the cases are provisional.
 */
const INSERT_CALLS = `
  INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, case_key, variables, position, repetition, status,
                     attempts, lease_expirations, latencies, due_at, changed_in, protocol, medium, bills,
                     provisional)
  SELECT c.id, $1, $2, $3, k.evaluation_id, k.key, k.variables, $9::integer + c.ordinal - 1,
         (c.ordinal - 1) % $8::integer + 1, 'QUEUED', '[]', 0, '{}', now(), pg_current_xact_id()::text::bigint,
         $10, $11, $12, k.provisional
    FROM unnest($4::uuid[]) WITH ORDINALITY AS c (id, ordinal)
    JOIN unnest($5::uuid[], $6::text[], $7::jsonb[], $13::boolean[])
         WITH ORDINALITY AS k (evaluation_id, key, variables, provisional, ordinal)
      ON k.ordinal = (c.ordinal - 1) / $8::integer + 1`;

/** The plan of a run; $2: only cases with a call that did not pass. The calls of a case are adjacent. */
const READ_PLAN = `
  SELECT e.evaluation_id AS id, e.snapshot, k.cases
    FROM run_evaluations e JOIN runs r ON r.id = e.run_id
   CROSS JOIN LATERAL (
     SELECT jsonb_agg(jsonb_build_object('key', c.case_key, 'variables', c.variables) ORDER BY c.position) AS cases
       FROM generate_series(e.first_call, e.first_call + (e.cases - 1) * r.repeat, r.repeat) first (position)
       JOIN calls c ON c.run_id = e.run_id AND c.position = first.position
      WHERE NOT $2::boolean OR EXISTS (
        SELECT 1 FROM calls o
         WHERE o.run_id = e.run_id AND o.position >= first.position AND o.position < first.position + r.repeat
           AND o.outcome IS DISTINCT FROM 'passed')) k
   WHERE e.run_id = $1 AND k.cases IS NOT NULL
   ORDER BY e.position`;

/** Those of runs that judge such calls again, too. */
const HAS_IMPORTED_CALLS = 'SELECT EXISTS (SELECT 1 FROM calls WHERE run_id = $1 AND protocol = $2) AS "isImported"';

const ANNOUNCE = `SELECT pg_notify($1, '')`;

/** SQL for the plans and calls of runs that start. */
@Injectable()
export class StartRepository {
  constructor(private readonly database: Database) {}

  /** Whether at least `limit` calls of the agent are waiting. */
  async isFull(agentId: string, limit: number): Promise<boolean> {
    const [row] = await this.database.query<{ isFull: boolean }>(IS_FULL, [agentId, limit]);
    return row?.isFull ?? false;
  }

  /** @param onlyFailed only cases with a call that did not pass */
  async readPlan(runId: string, onlyFailed: boolean): Promise<PlannedEvaluation[]> {
    return this.database.query(READ_PLAN, [runId, onlyFailed]);
  }

  /** Whether calls of a run were recorded elsewhere. */
  async hasImportedCalls(runId: string): Promise<boolean> {
    const [row] = await this.database.query<{ isImported: boolean }>(HAS_IMPORTED_CALLS, [runId, RECORDING]);
    return row?.isImported ?? false;
  }

  /** Tells every process that executes calls that some are due, once the caller's transaction is committed. */
  async announce(): Promise<void> {
    await this.database.query(ANNOUNCE, [CALLS_DUE]);
  }

  /** @param evaluations in plan order */
  async insertPlan(
    { id, repeat }: Pick<RunEntity, 'id' | 'repeat'>,
    evaluations: readonly PlannedEvaluation[],
  ): Promise<void> {
    let firstCall = 0;
    for (let at = 0; at < evaluations.length; at += BATCH_SIZE) {
      const batch = evaluations.slice(at, at + BATCH_SIZE);
      const snapshots = batch.map(({ snapshot }) => JSON.stringify(snapshot));
      const cases = batch.map((evaluation) => evaluation.cases.length);
      const firstCalls = cases.map((count) => (firstCall += count * repeat) - count * repeat);
      await this.database.query(INSERT_PLAN, [id, batch.map((one) => one.id), snapshots, firstCalls, cases, at]);
    }
  }

  /**
   * @param evaluations in plan order
   * @param ids of the calls, in plan order
   */
  async insertCalls(
    { id, workspaceId, agentId, repeat }: Pick<RunEntity, 'id' | 'workspaceId' | 'agentId' | 'repeat'>,
    evaluations: readonly PlannedEvaluation[],
    ids: readonly string[],
    { protocol, medium }: Pick<CallEntity, 'protocol' | 'medium'>,
  ): Promise<void> {
    const cases = evaluations.flatMap((evaluation) => evaluation.cases.map((one) => ({ ...one, of: evaluation })));
    for (let at = 0; at < cases.length; at += CASES_PER_STATEMENT) {
      const batch = cases.slice(at, at + CASES_PER_STATEMENT);
      const first = at * repeat;
      await this.database.query(INSERT_CALLS, [
        workspaceId,
        agentId,
        id,
        ids.slice(first, first + batch.length * repeat),
        batch.map(({ of }) => of.id),
        batch.map(({ key }) => key),
        batch.map(({ variables }) => variables && JSON.stringify(variables)),
        repeat,
        first,
        protocol,
        medium,
        isBilled(protocol),
        batch.map(({ of }) => of.snapshot.provisional === true),
      ]);
    }
  }
}

/** Calls that were imported have a protocol that is not built. */
const isBilled = (protocol: string | null): boolean =>
  protocol !== null && PROTOCOLS.has(protocol) && PROTOCOLS.of(protocol).bills === true;
