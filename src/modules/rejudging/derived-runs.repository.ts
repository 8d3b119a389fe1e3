import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { CriticalCase } from '../run-ends/run-finisher.service.js';
import type { RunEntity } from '../runs/run.entity.js';
import type { DerivedPlan, PlannedCall } from './derived-plan.js';

/** Calls whose recording has everything that judging them again needs. */
const RECORDED = `
  SELECT c.id, c.evaluation_id AS "evaluationId", c.position, c.repetition
    FROM calls c JOIN call_results s ON s.call_id = c.id
    JOIN recordings d ON d.call_id = coalesce(c.recorded_call_id, c.id) AND d.id::text = c.attempts -> -1 ->> 'callId'
   WHERE c.run_id = $1 AND c.status = 'ENDED' AND d.facts_bytes > 0
     AND c.transcript_deleted_at IS NULL
   ORDER BY c.position`;

/** Calls with a result. */
const JUDGED = `
  SELECT c.id, c.evaluation_id AS "evaluationId", c.position, c.repetition
    FROM calls c JOIN call_results s ON s.call_id = c.id
   WHERE c.run_id = $1 AND c.status = 'ENDED' AND c.transcript_deleted_at IS NULL
   ORDER BY c.position`;

const HAS_DELETED_TRANSCRIPTS =
  'SELECT EXISTS (SELECT 1 FROM calls WHERE run_id = $1 AND transcript_deleted_at IS NOT NULL) AS "isDeleted"';

/**
 * $2: run whose snapshots are copied; $3: evaluations, $4: their first calls and $5: numbers of cases, in plan order; $6: whether
 * the criteria of today replace those of the snapshots, except of deleted evaluations; $7: except of these.
 */
const INSERT_PLAN = `
  INSERT INTO run_evaluations (run_id, evaluation_id, position, snapshot, first_call, cases)
  SELECT $1, e.evaluation_id, p.ordinal - 1,
         CASE WHEN $6 AND v.id IS NOT NULL AND v.id <> ALL($7::uuid[]) THEN jsonb_set(e.snapshot, '{definition,criteria}', v.criteria) ELSE e.snapshot END,
         p.first_call, p.cases
    FROM unnest($3::uuid[], $4::integer[], $5::integer[]) WITH ORDINALITY AS p (id, first_call, cases, ordinal)
    JOIN run_evaluations e ON e.run_id = $2 AND e.evaluation_id = p.id
    LEFT JOIN evaluations v ON v.id = e.evaluation_id AND v.deleted_at IS NULL`;

const NAMES = (row: string) => `(SELECT array_agg(n ORDER BY n) FROM jsonb_object_keys(${row}) n)`;

/** Evaluations whose variables have other names than in the calls of a run. */
const RENAMED = `
  SELECT e.evaluation_id AS id, e.snapshot ->> 'name' AS name
    FROM run_evaluations e
    JOIN evaluations v ON v.id = e.evaluation_id AND v.deleted_at IS NULL
    JOIN calls c ON c.run_id = e.run_id AND c.position = e.first_call
   WHERE e.run_id = $1 AND ${NAMES('v.variables -> 0')} IS DISTINCT FROM ${NAMES('c.variables')}
   ORDER BY e.position`;

/** Whether anything of a run is for the judge: a criterion, or a caller without a script. */
const NEEDS_JUDGE = `
  SELECT coalesce(bool_or(snapshot #> '{definition,criteria}' <> '[]' OR snapshot #> '{definition,script}' = '[]'
                          OR jsonb_path_exists(snapshot, '$.definition.checks.**.type ? (@ == "criterion")')), false)
         AS "needsJudge"
    FROM run_evaluations WHERE run_id = $1`;

/** $2: ids of the calls; $3: the calls that they judge again; $4: positions; $5: repetitions. */
const INSERT_CALLS = `
  INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, case_key, variables, position, repetition, status,
                     attempts, lease_expirations, latencies, due_at, changed_in, protocol, medium, source_call_id,
                     recorded_call_id, provisional)
  SELECT p.id, s.workspace_id, s.agent_id, $1, s.evaluation_id, s.case_key, s.variables, p.position, p.repetition,
         'QUEUED', '[]', 0, '{}', now(), pg_current_xact_id()::text::bigint, s.protocol, s.medium, s.id,
         coalesce(s.recorded_call_id, s.id), s.provisional
    FROM unnest($2::uuid[], $3::uuid[], $4::integer[], $5::integer[]) AS p (id, source_id, position, repetition)
    JOIN calls s ON s.id = p.source_id`;

/** Cases of critical evaluations of a run without any of the calls $2. */
const LEFT_OUT_CRITICAL = `
  SELECT DISTINCT ON (c.case_key) c.case_key AS "caseKey", c.variables, e.snapshot ->> 'name' AS name
    FROM calls c JOIN run_evaluations e ON e.run_id = c.run_id AND e.evaluation_id = c.evaluation_id
   WHERE c.run_id = $1 AND (e.snapshot ->> 'critical')::boolean AND NOT c.provisional
     AND NOT EXISTS (SELECT 1 FROM calls k WHERE k.id = ANY($2::uuid[]) AND k.case_key = c.case_key)
   ORDER BY c.case_key`;

/** Calls of a run that count, without the calls $2. */
const LEFT_OUT =
  'SELECT count(*)::int AS calls FROM calls WHERE run_id = $1 AND NOT provisional AND id <> ALL ($2::uuid[])';

const SET_LEFT_OUT = 'UPDATE runs SET left_out_calls = $2, left_out_critical = $3 WHERE id = $1';

/** SQL for starting derived runs. */
@Injectable()
export class DerivedRunsRepository {
  constructor(private readonly database: Database) {}

  /** The ended calls of a run that can be judged again from their recordings, in plan order. */
  async recorded(runId: string): Promise<PlannedCall[]> {
    return this.database.query(RECORDED, [runId]);
  }

  /** The ended calls of a run that have a result, in plan order. */
  async judged(runId: string): Promise<PlannedCall[]> {
    return this.database.query(JUDGED, [runId]);
  }

  /** Whether the texts of a call of a run were deleted. */
  async hasDeletedTranscripts(runId: string): Promise<boolean> {
    const [row] = await this.database.query<{ isDeleted: boolean }>(HAS_DELETED_TRANSCRIPTS, [runId]);
    return row?.isDeleted ?? false;
  }

  /** Whether a run has something to judge: a criterion, or a caller without a script. */
  async needsJudge(runId: string): Promise<boolean> {
    const [row] = await this.database.query<{ needsJudge: boolean }>(NEEDS_JUDGE, [runId]);
    return row?.needsJudge ?? false;
  }

  /** The evaluations whose variables have other names today than in the calls of a run. */
  async withRenamedVariables(runId: string): Promise<{ id: string; name: string }[]> {
    return this.database.query(RENAMED, [runId]);
  }

  /** The cases of critical evaluations of a run that have none of these calls. */
  async criticalWithout(runId: string, callIds: readonly string[]): Promise<CriticalCase[]> {
    return this.database.query(LEFT_OUT_CRITICAL, [runId, callIds]);
  }

  /** The number of counted calls of a run beside these. */
  async callsWithout(runId: string, callIds: readonly string[]): Promise<number> {
    const [row] = await this.database.query<{ calls: number }>(LEFT_OUT, [runId, callIds]);
    return row?.calls ?? 0;
  }

  /** @param critical names of the critical cases of which no call is left */
  async setLeftOut(runId: string, calls: number, critical: readonly string[]): Promise<void> {
    await this.database.query(SET_LEFT_OUT, [runId, calls, critical]);
  }

  /**
   * @param sourceId the run that the plan is derived from
   * @param ids of the new calls, in plan order
   * @param unchanged evaluations whose criteria stay those of the run
   */
  async insert(
    { id: runId, derivedKind }: Pick<RunEntity, 'id' | 'derivedKind'>,
    sourceId: string,
    plan: DerivedPlan,
    ids: readonly string[],
    unchanged: readonly string[],
  ): Promise<void> {
    const { evaluations, calls } = plan;
    await this.database.query(INSERT_PLAN, [
      runId,
      sourceId,
      evaluations.map(({ id }) => id),
      evaluations.map(({ firstCall }) => firstCall),
      evaluations.map(({ cases }) => cases),
      derivedKind === 'rejudge',
      unchanged,
    ]);
    await this.database.query(INSERT_CALLS, [
      runId,
      ids,
      calls.map(({ id }) => id),
      calls.map(({ position }) => position),
      calls.map(({ repetition }) => repetition),
    ]);
  }
}
