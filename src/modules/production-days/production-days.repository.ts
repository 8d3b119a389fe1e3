import { Injectable } from '@nestjs/common';
import { type Attempt, type CallResult, RECORDING } from '../../../libs/simulation/index.js';
import { Database } from '../../platform/database/database.js';
import type { CallEntity } from '../runs/call.entity.js';
import type { RunEntity } from '../runs/run.entity.js';
import type { EvaluationSnapshot, RunEvaluationEntity } from '../runs/run-evaluation.entity.js';

const IS_TAKEN = 'SELECT FROM day_calls WHERE agent_id = $1 AND external_id = $2';

const FIND_RUN = 'SELECT id FROM runs WHERE agent_id = $1 AND day = $2';

const PLAN = `
  SELECT evaluation_id AS id, snapshot FROM run_evaluations WHERE run_id = $1 ORDER BY position`;

const COUNTS = 'SELECT evaluation_id AS id, taken, judged FROM run_evaluations WHERE run_id = $1';

/** One transaction at a time adds calls to a run. */
const LOCK = 'SELECT ended_at AS "endedAt" FROM runs WHERE id = $1 FOR UPDATE';

const TAKE = `
  INSERT INTO day_calls (agent_id, external_id) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING agent_id`;

/** $2: JSON list (`Counted`). Returns the place of the last call of each evaluation. */
const COUNT = `
  UPDATE run_evaluations e
     SET taken = e.taken + g.taken, judged = e.judged + g.judged, unjudged = e.unjudged + g.unjudged,
         not_applicable = e.not_applicable + g."notApplicable", over_limit = e.over_limit + g."overLimit"
    FROM jsonb_to_recordset($2::jsonb) AS g (id uuid, taken int, judged int, unjudged int, "notApplicable" int, "overLimit" int)
   WHERE e.run_id = $1 AND e.evaluation_id = g.id
  RETURNING e.evaluation_id AS id, e.first_call + e.taken - 1 AS position, e.taken AS repetition`;

/** $1: run; $2: JSON list (`JudgedCall`); $3: protocol; $4: external id; $5: why it ended; $6: what was reported; $7 and $8: its times. */
const INSERT = `
  WITH given AS MATERIALIZED (
    SELECT g.*, r.workspace_id, r.agent_id FROM runs r, jsonb_to_recordset($2::jsonb) AS g (
           id uuid, "evaluationId" uuid, "caseKey" text, position int, repetition int, outcome text, score double precision,
           reason text, attempt jsonb, result jsonb)
     WHERE r.id = $1),
  inserted AS (
    INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, case_key, position, repetition, status, outcome, score,
                       reason, attempts, lease_expirations, latencies, due_at, started_at, ended_at, changed_in, protocol, medium)
    SELECT id, workspace_id, agent_id, $1, "evaluationId", "caseKey", position, repetition, 'ENDED', outcome, score, reason,
           attempt, 0, '{}', now(), $7, $8, pg_current_xact_id()::text::bigint, $3, 'voice' FROM given),
  stored AS (INSERT INTO call_results (call_id, result) SELECT id, result FROM given),
  imported AS (
    INSERT INTO call_imports (call_id, run_id, workspace_id, agent_id, external_id, ended_reason, reported, origin, bytes)
    SELECT id, $1, workspace_id, agent_id, $4, $5, $6, 'production', 0 FROM given)
  UPDATE runs SET total_calls = total_calls + (SELECT count(*) FROM given), updated_at = now(),
         started_at = least(started_at, $7) WHERE id = $1`;

/** $1: days; a batch. */
const FORGET = `
  DELETE FROM day_calls WHERE (agent_id, external_id) IN (
    SELECT agent_id, external_id FROM day_calls WHERE taken_at < now() - $1 * interval '1 day' LIMIT 1000
       FOR UPDATE SKIP LOCKED) RETURNING agent_id`;

/** An evaluation of a day, as it was at its first call. */
export interface DayEvaluation {
  readonly id: string;
  readonly snapshot: EvaluationSnapshot;
}

/** What a call adds to the figures of an evaluation. */
export type Counted = Pick<RunEvaluationEntity, 'taken' | 'judged' | 'unjudged' | 'notApplicable' | 'overLimit'> & {
  readonly id: string;
};

export type JudgedCall = Pick<CallEntity, 'id' | 'evaluationId' | 'caseKey' | 'position' | 'repetition'> &
  Pick<CallResult, 'outcome' | 'score' | 'reason'> & {
    readonly attempt: readonly Attempt[];
    readonly result: CallResult;
  };

/** A production call as it is stored. */
export interface StoredCall {
  readonly externalId: string;
  readonly endedReason: string | null;
  readonly reported: object;
  readonly startedAt: Date;
  readonly endedAt: Date;
}

/** SQL for the days of production calls. */
@Injectable()
export class ProductionDaysRepository {
  constructor(private readonly database: Database) {}

  async isTaken(agentId: string, externalId: string): Promise<boolean> {
    return (await this.database.query(IS_TAKEN, [agentId, externalId])).length > 0;
  }

  /** @param day YYYY-MM-DD @returns the id of its run */
  async find(agentId: string, day: string): Promise<string | undefined> {
    return (await this.database.query<{ id: string }>(FIND_RUN, [agentId, day]))[0]?.id;
  }

  /** The evaluations of a day, which do not change. */
  async plan(runId: string): Promise<DayEvaluation[]> {
    return this.database.query(PLAN, [runId]);
  }

  async counts(runId: string): Promise<Pick<Counted, 'id' | 'taken' | 'judged'>[]> {
    return this.database.query(COUNTS, [runId]);
  }

  /** @returns undefined if the run was deleted */
  async lock(runId: string): Promise<Pick<RunEntity, 'endedAt'> | undefined> {
    return (await this.database.query<Pick<RunEntity, 'endedAt'>>(LOCK, [runId]))[0];
  }

  /** @returns false if the call was taken before */
  async take(agentId: string, externalId: string): Promise<boolean> {
    return (await this.database.query(TAKE, [agentId, externalId])).length > 0;
  }

  /** @returns the place of the last call of each evaluation */
  async count(
    runId: string,
    counted: readonly Counted[],
  ): Promise<(Pick<JudgedCall, 'position' | 'repetition'> & { readonly id: string })[]> {
    return this.database.query(COUNT, [runId, JSON.stringify(counted)]);
  }

  async insert(runId: string, calls: readonly JudgedCall[], stored: StoredCall): Promise<void> {
    const { externalId, endedReason, reported, startedAt, endedAt } = stored;
    const values = [runId, JSON.stringify(calls), RECORDING, externalId, endedReason, JSON.stringify(reported)];
    await this.database.query(INSERT, [...values, startedAt, endedAt]);
  }

  /** @returns the number of forgotten calls, of which there may be more */
  async forget(days: number): Promise<number> {
    return (await this.database.query(FORGET, [days])).length;
  }
}
