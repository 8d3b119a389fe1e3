import { RUN_COLUMNS } from '../runs.columns.js';

export const INSERT_RUN = `
  INSERT INTO runs AS r (id, workspace_id, agent_id, user_id, label, name, status, score, total_calls, repeat,
                         concurrency, minimum_score, agent_snapshot, reasons)
  VALUES ($1, $2, $3, $4, 'READ', $5, 'QUEUED', 0, $6, $7, $8, $9, $10, '{}') RETURNING ${RUN_COLUMNS}`;

/** $2: so many calls of the agent at least wait. */
export const IS_FULL = `
  SELECT count(*) >= $2 AS "isFull"
    FROM (SELECT 1 FROM calls WHERE agent_id = $1 AND status = 'QUEUED' LIMIT $2) c`;

/** $2: evaluations and $3: their snapshots, in the order of the plan; $4: place of the first one in it. */
export const INSERT_PLAN = `
  INSERT INTO run_evaluations (run_id, evaluation_id, position, snapshot)
  SELECT $1, e.id, $4::integer + e.place - 1, e.snapshot
    FROM unnest($2::uuid[], $3::jsonb[]) WITH ORDINALITY AS e (id, snapshot, place)`;

/** $4: identifiers and $5: evaluations of the calls, in the order of the plan; $6: calls of each evaluation. */
export const INSERT_CALLS = `
  INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, position, repetition, status, attempts, lease_expirations,
                     latencies, due_at, changed_in)
  SELECT c.id, $1, $2, $3, c.evaluation_id, c.place - 1, (c.place - 1) % $6::integer + 1, 'QUEUED', '[]', 0, '{}', now(),
         pg_current_xact_id()::text::bigint
    FROM unnest($4::uuid[], $5::uuid[]) WITH ORDINALITY AS c (id, evaluation_id, place)`;

/** The plan of a run; $2: only evaluations of which a call did not pass. */
export const READ_PLAN = `
  SELECT e.evaluation_id AS id, e.snapshot FROM run_evaluations e
   WHERE e.run_id = $1 AND (NOT $2::boolean OR EXISTS (
     SELECT 1 FROM calls c WHERE c.run_id = $1 AND c.evaluation_id = e.evaluation_id AND c.outcome IS DISTINCT FROM 'passed'))
   ORDER BY e.position`;
