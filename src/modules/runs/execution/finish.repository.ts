import { Injectable } from '@nestjs/common';
import type { CheckResult, CriterionResult } from '../../../../libs/simulation/index.js';
import type { Gate } from '../../../../libs/statistics/index.js';
import { Database } from '../../../platform/database/database.js';
import type { RunEntity } from '../run.entity.js';
import { RUN_COLUMNS } from '../runs.columns.js';

export interface EndedCall {
  readonly id: string;
  readonly evaluationId: string;
  readonly caseKey: string;
  readonly outcome: 'passed' | 'failed' | 'invalid' | 'error';
  readonly score: number | null;
}

export interface PlannedEvaluation {
  readonly evaluationId: string;
  readonly name: string;
  readonly critical: boolean;
}

export interface FailedCall {
  readonly id: string;
  readonly evaluationId: string;
  readonly checks: readonly CheckResult[];
  readonly criteria: readonly CriterionResult[];
}

/** An open run whose calls have all ended. */
const LOCK_OPEN_RUN = `
  SELECT ${RUN_COLUMNS} FROM runs r
   WHERE r.id = $1 AND r.status IN ('QUEUED', 'RUNNING')
     AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.id AND c.status IN ('QUEUED', 'RUNNING'))
     FOR UPDATE`;

const LOCK_AGENT = `SELECT pg_advisory_xact_lock(hashtextextended('runs:' || $1, 0))`;

const ENDED_CALLS = `
  SELECT id, evaluation_id AS "evaluationId", case_key AS "caseKey", outcome, score FROM calls
   WHERE run_id = $1 AND status = 'ENDED' ORDER BY position`;

const PLANNED = `
  SELECT evaluation_id AS "evaluationId", snapshot ->> 'name' AS name, (snapshot ->> 'critical')::boolean AS critical
    FROM run_evaluations WHERE run_id = $1 ORDER BY position`;

const FINISH = `
  UPDATE runs r SET status = $2, score = $3, exit_code = $4, reasons = $5, warnings = $6, ended_at = clock_timestamp(), updated_at = clock_timestamp()
   WHERE r.id = $1 AND r.status IN ('QUEUED', 'RUNNING') RETURNING ${RUN_COLUMNS}`;

/** The score of the agent's latest ended run with at least one counted call. */
const PREVIOUS_SCORE = `
  SELECT r.score FROM runs r
   WHERE r.agent_id = $1 AND r.id <> $2 AND r.ended_at IS NOT NULL AND r.status IN ('COMPLETED', 'FAILED')
     AND EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.id AND c.outcome IN ('passed', 'failed'))
   ORDER BY r.ended_at DESC LIMIT 1`;

const FAILED_CRITICAL_CALLS = `
  SELECT c.id, c.evaluation_id AS "evaluationId", s.result -> 'checks' AS checks, s.result -> 'criteria' AS criteria
    FROM calls c
    JOIN run_evaluations e ON e.run_id = c.run_id AND e.evaluation_id = c.evaluation_id
    JOIN call_results s ON s.call_id = c.id
   WHERE c.run_id = $1 AND c.outcome = 'failed' AND (e.snapshot ->> 'critical')::boolean
   ORDER BY c.position`;

/** SQL for finishing a run; all methods are called in one transaction. */
@Injectable()
export class FinishRepository {
  constructor(private readonly database: Database) {}

  /** Locks an open run whose calls have all ended. @returns undefined if it has ended already or has calls left */
  async lockOpenRun(runId: string): Promise<RunEntity | undefined> {
    const [run] = await this.database.query<RunEntity>(LOCK_OPEN_RUN, [runId]);
    return run;
  }

  /** Serialises finishing the runs of an agent, because each score is compared with the previous one. */
  async lockAgent(agentId: string): Promise<void> {
    await this.database.query(LOCK_AGENT, [agentId]);
  }

  /** The ended calls of a run, in the order of the plan. */
  async endedCalls(runId: string): Promise<EndedCall[]> {
    return this.database.query(ENDED_CALLS, [runId]);
  }

  /** The evaluations of a run, in the order of the plan. */
  async evaluations(runId: string): Promise<PlannedEvaluation[]> {
    return this.database.query(PLANNED, [runId]);
  }

  /** @returns the ended run; undefined if it had ended already */
  async finish(
    runId: string,
    {
      status,
      score,
      exitCode,
      reasons,
      warnings,
    }: Pick<RunEntity, 'status' | 'score' | 'exitCode'> & Pick<Gate, 'reasons' | 'warnings'>,
  ): Promise<RunEntity | undefined> {
    const [run] = await this.database.query<RunEntity>(FINISH, [runId, status, score, exitCode, reasons, warnings]);
    return run;
  }

  /** The score of the agent's previous run with at least one counted call. */
  async previousScore({ agentId, id }: Pick<RunEntity, 'agentId' | 'id'>): Promise<number | undefined> {
    const [previous] = await this.database.query<{ score: number }>(PREVIOUS_SCORE, [agentId, id]);
    return previous?.score;
  }

  /** Failed calls of critical evaluations, in the order of the plan. */
  async failedCriticalCalls(runId: string): Promise<FailedCall[]> {
    return this.database.query(FAILED_CRITICAL_CALLS, [runId]);
  }
}
