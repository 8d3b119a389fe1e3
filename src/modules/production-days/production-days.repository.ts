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

/**
 * $1: run; $2: JSON list (`JudgedCall`); $3: protocol; $4: external id; $5: why it ended; $6: what was reported; $7 and $8: its times.
 * A call whose sound is awaited has a claim that does not expire, and its result is preliminary.
 */
const INSERT = `
  WITH given AS MATERIALIZED (
    SELECT g.*, r.workspace_id, r.agent_id FROM runs r, jsonb_to_recordset($2::jsonb) AS g (
           id uuid, "claimId" uuid, "evaluationId" uuid, "caseKey" text, position int, repetition int, outcome text, score double precision,
           reason text, attempt jsonb, result jsonb)
     WHERE r.id = $1),
  inserted AS (
    INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, case_key, position, repetition, status, outcome, score,
                       reason, attempts, lease_expirations, latencies, due_at, started_at, ended_at, changed_in, protocol, medium,
                       claim_id, lease_until)
    SELECT id, workspace_id, agent_id, $1, "evaluationId", "caseKey", position, repetition,
           CASE WHEN "claimId" IS NULL THEN 'ENDED' ELSE 'RUNNING' END, outcome, score, reason, attempt, 0, '{}', now(), $7, $8,
           pg_current_xact_id()::text::bigint, $3, 'voice', "claimId", CASE WHEN "claimId" IS NOT NULL THEN timestamptz 'infinity' END
      FROM given),
  stored AS (INSERT INTO call_results (call_id, result) SELECT id, result FROM given WHERE "claimId" IS NULL),
  imported AS (
    INSERT INTO call_imports (call_id, run_id, workspace_id, agent_id, external_id, ended_reason, reported, origin, bytes, decided)
    SELECT id, $1, workspace_id, agent_id, $4, $5, $6, 'production', 0, CASE WHEN "claimId" IS NOT NULL THEN result END
      FROM given)
  UPDATE runs SET total_calls = total_calls + (SELECT count(*) FROM given), updated_at = now(),
         started_at = least(started_at, $7) WHERE id = $1`;

/** $2: external id. Calls whose sound is awaited, with what their words decide. */
const AWAITED = `
  SELECT c.id, c.claim_id AS "claimId", c.run_id AS "runId", c.evaluation_id AS "evaluationId", i.decided,
         c.started_at AS "startedAt", c.ended_at AS "endedAt"
    FROM call_imports i JOIN calls c ON c.id = i.call_id
   WHERE i.agent_id = $1 AND i.external_id = $2 AND i.origin = 'production' AND c.status = 'RUNNING' AND c.lease_until = 'infinity'`;

/** $1: JSON list with an `EndedCall`. */
const END = `
  WITH ended AS (
    UPDATE calls c SET status = 'ENDED', outcome = g.outcome, score = g.score, reason = g.reason, latencies = g.latencies,
           attempts = g.attempt, claim_id = NULL, lease_until = NULL, updated_at = now(),
           changed_in = pg_current_xact_id()::text::bigint
      FROM jsonb_to_recordset($1::jsonb) AS g (id uuid, "claimId" uuid, outcome text, score double precision, reason text,
           latencies double precision[], attempt jsonb, result jsonb)
     WHERE c.id = g.id AND c.claim_id = g."claimId" RETURNING c.id, g.result),
  stored AS (INSERT INTO call_results (call_id, result) SELECT id, result FROM ended),
  closed AS (UPDATE call_imports SET decided = NULL WHERE call_id IN (SELECT id FROM ended))
  SELECT id FROM ended`;

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
  Pick<CallEntity, 'outcome' | 'score' | 'reason'> & {
    /** Of a call whose sound is awaited, which has no outcome yet. */
    readonly claimId: string | null;
    readonly attempt: readonly Attempt[];
    readonly result: CallResult;
  };

/** A call whose sound is awaited. */
export interface AwaitedCall {
  readonly id: string;
  readonly claimId: string;
  readonly runId: string;
  readonly evaluationId: string;
  /** By its words. */
  readonly decided: CallResult;
  readonly startedAt: Date;
  readonly endedAt: Date;
}

export type EndedCall = Pick<AwaitedCall, 'id' | 'claimId'> &
  Pick<JudgedCall, 'outcome' | 'score' | 'reason' | 'attempt' | 'result'> & { readonly latencies: readonly number[] };

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

  /** Of one id in the records of the platform. */
  async awaited(agentId: string, externalId: string): Promise<AwaitedCall[]> {
    return this.database.query<AwaitedCall>(AWAITED, [agentId, externalId]);
  }

  /** @returns false if it has ended, or was deleted */
  async end(call: EndedCall): Promise<boolean> {
    return (await this.database.query(END, [JSON.stringify([call])])).length > 0;
  }

  /** @returns the number of forgotten calls, of which there may be more */
  async forget(days: number): Promise<number> {
    return (await this.database.query(FORGET, [days])).length;
  }
}
