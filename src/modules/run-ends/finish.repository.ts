import { Injectable } from '@nestjs/common';
import type { CheckResult, CriterionResult } from '../../../libs/simulation/index.js';
import { Database } from '../../platform/database/database.js';
import type { CallEntity } from '../runs/call.entity.js';
import type { RunEntity } from '../runs/run.entity.js';
import { SCORE } from '../runs/runs.service.js';

export interface EndedCall {
  readonly id: string;
  readonly evaluationId: string;
  readonly provisional: boolean;
  readonly caseKey: string;
  readonly outcome: 'passed' | 'failed' | 'invalid' | 'error';
  readonly score: number | null;
}

/** A case of a critical evaluation. */
export type CriticalCase = Pick<CallEntity, 'caseKey' | 'variables'> & {
  /** Name of the evaluation. */
  readonly name: string;
};

export type NotPassedCase = CriticalCase & {
  /** That of the evaluation. */
  readonly key: string | null;
  readonly outcome: 'failed' | 'invalid' | 'error';
  readonly reason: string | null;
};

export interface UnrecordedCalls {
  readonly reason: 'quota' | 'disk';
  readonly calls: number;
}

export interface FailedCall {
  readonly id: string;
  readonly evaluationId: string;
  readonly checks: readonly CheckResult[];
  readonly criteria: readonly CriterionResult[];
}

const LOCK_AGENT = `SELECT pg_advisory_xact_lock(hashtextextended('runs:' || $1, 0))`;

const ENDED_CALLS = `
  SELECT id, evaluation_id AS "evaluationId", provisional, case_key AS "caseKey", outcome, score FROM calls
   WHERE run_id = $1 AND status = 'ENDED' ORDER BY position`;

const SCORE_OF_RUN = `SELECT ${SCORE} AS score FROM runs r WHERE r.id = $1`;

const CRITICAL_CASES = `
  WITH planned AS MATERIALIZED (
    SELECT e.snapshot ->> 'name' AS name, e.first_call, e.cases, r.repeat
      FROM run_evaluations e JOIN runs r ON r.id = e.run_id
     WHERE e.run_id = $1 AND (e.snapshot ->> 'critical')::boolean AND NOT e.snapshot ? 'provisional')
  SELECT c.case_key AS "caseKey", c.variables, p.name
    FROM planned p
   CROSS JOIN generate_series(p.first_call, p.first_call + (p.cases - 1) * p.repeat, p.repeat) AS first (position)
    JOIN calls c ON c.run_id = $1 AND c.position = first.position
   ORDER BY c.position`;

/** The score of the agent's latest ended run with calls of its own, at least one of them counted. */
const PREVIOUS_SCORE = `
  SELECT r.score FROM runs r
   WHERE r.agent_id = $1 AND r.id <> $2 AND r.ended_at IS NOT NULL AND r.status IN ('COMPLETED', 'FAILED')
     AND r.derived_from IS NULL AND NOT r.is_imported AND EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.id AND c.outcome IN ('passed', 'failed') AND NOT c.provisional)
   ORDER BY r.ended_at DESC LIMIT 1`;

const FAILED_CRITICAL_CALLS = `
  SELECT c.id, c.evaluation_id AS "evaluationId", s.result -> 'checks' AS checks, s.result -> 'criteria' AS criteria
    FROM calls c
    JOIN run_evaluations e ON e.run_id = c.run_id AND e.evaluation_id = c.evaluation_id
    JOIN call_results s ON s.call_id = c.id
   WHERE c.run_id = $1 AND c.outcome = 'failed' AND NOT c.provisional AND (e.snapshot ->> 'critical')::boolean
   ORDER BY c.position`;

/** For each case its first failed call, else its first one that could not be counted. */
const NOT_PASSED_CASES = `
  SELECT * FROM (
    SELECT DISTINCT ON (c.case_key) c.case_key AS "caseKey", c.variables, c.outcome, c.reason, c.position,
           e.snapshot ->> 'name' AS name, e.snapshot ->> 'key' AS key
      FROM calls c JOIN run_evaluations e ON e.run_id = c.run_id AND e.evaluation_id = c.evaluation_id
     WHERE c.run_id = $1 AND c.outcome <> 'passed' AND NOT c.provisional
     ORDER BY c.case_key, c.outcome <> 'failed', c.position) first
   ORDER BY outcome <> 'failed', position LIMIT $2`;

/** Voice calls without a recording that should have one. */
const UNRECORDED_CALLS = `
  SELECT s.result ->> 'recordingOmitted' AS reason, count(*)::int AS calls
    FROM calls c JOIN call_results s ON s.call_id = c.id
   WHERE c.run_id = $1 AND c.medium = 'voice' AND s.result ->> 'recordingOmitted' IN ('quota', 'disk')
   GROUP BY 1 ORDER BY 1`;

/** SQL for finishing a run; all methods are called in one transaction. */
@Injectable()
export class FinishRepository {
  constructor(private readonly database: Database) {}

  /** Serialises finishing the runs of an agent, because each score is compared with the previous one. */
  async lockAgent(agentId: string): Promise<void> {
    await this.database.query(LOCK_AGENT, [agentId]);
  }

  /** The ended calls of a run, in the order of the plan. */
  async endedCalls(runId: string): Promise<EndedCall[]> {
    return this.database.query(ENDED_CALLS, [runId]);
  }

  /** The mean score of its counted calls; 0 without any. */
  async score(runId: string): Promise<number> {
    const [row] = await this.database.query<{ score: number }>(SCORE_OF_RUN, [runId]);
    return row!.score;
  }

  /** The cases of critical evaluations, in the order of the plan. */
  async criticalCases(runId: string): Promise<CriticalCase[]> {
    return this.database.query(CRITICAL_CASES, [runId]);
  }

  /** How many of its calls could not be recorded, and why. */
  async unrecordedCalls(runId: string): Promise<UnrecordedCalls[]> {
    return this.database.query(UNRECORDED_CALLS, [runId]);
  }

  /** The score of the agent's previous run with at least one counted call. */
  async previousScore({ agentId, id }: Pick<RunEntity, 'agentId' | 'id'>): Promise<number | undefined> {
    const [previous] = await this.database.query<{ score: number }>(PREVIOUS_SCORE, [agentId, id]);
    return previous?.score;
  }

  /** Cases that did not pass: those with a failed call first, in the order of the plan. */
  async notPassedCases(runId: string, limit: number): Promise<NotPassedCase[]> {
    return this.database.query(NOT_PASSED_CASES, [runId, limit]);
  }

  /** Failed calls of critical evaluations, in the order of the plan. */
  async failedCriticalCalls(runId: string): Promise<FailedCall[]> {
    return this.database.query(FAILED_CRITICAL_CALLS, [runId]);
  }
}
