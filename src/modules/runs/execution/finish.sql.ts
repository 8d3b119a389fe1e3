import { RUN_COLUMNS } from '../runs.columns.js';

/** A run that has not ended although all of its calls have. */
export const LOCK_OPEN_RUN = `
  SELECT ${RUN_COLUMNS} FROM runs r
   WHERE r.id = $1 AND r.status IN ('QUEUED', 'RUNNING')
     AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.id AND c.status IN ('QUEUED', 'RUNNING'))
     FOR UPDATE`;

export const LOCK_AGENT = `SELECT pg_advisory_xact_lock(hashtextextended('runs:' || $1, 0))`;

export const ENDED_CALLS = `
  SELECT id, evaluation_id AS "evaluationId", outcome, score FROM calls
   WHERE run_id = $1 AND status = 'ENDED' ORDER BY position`;

export const PLANNED = `
  SELECT evaluation_id AS "evaluationId", snapshot ->> 'name' AS name, (snapshot ->> 'critical')::boolean AS critical
    FROM run_evaluations WHERE run_id = $1 ORDER BY position`;

export const FINISH = `
  UPDATE runs r SET status = $2, score = $3, reasons = $4, ended_at = clock_timestamp(), updated_at = clock_timestamp()
   WHERE r.id = $1 AND r.status IN ('QUEUED', 'RUNNING') RETURNING ${RUN_COLUMNS}`;

/** The score of the agent's last ended run of which at least one call was counted. */
export const PREVIOUS_SCORE = `
  SELECT r.score FROM runs r
   WHERE r.agent_id = $1 AND r.id <> $2 AND r.ended_at IS NOT NULL AND r.status IN ('COMPLETED', 'FAILED')
     AND EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.id AND c.outcome IN ('passed', 'failed'))
   ORDER BY r.ended_at DESC LIMIT 1`;

export const FAILED_CRITICAL_CALLS = `
  SELECT c.id, c.evaluation_id AS "evaluationId", s.result -> 'checks' AS checks, s.result -> 'criteria' AS criteria
    FROM calls c
    JOIN run_evaluations e ON e.run_id = c.run_id AND e.evaluation_id = c.evaluation_id
    JOIN call_results s ON s.call_id = c.id
   WHERE c.run_id = $1 AND c.outcome = 'failed' AND (e.snapshot ->> 'critical')::boolean
   ORDER BY c.position`;
