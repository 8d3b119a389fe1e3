const CHANGED = `changed_in = pg_current_xact_id()::text::bigint, updated_at = now()`;
const UNCLAIMED = 'claim_id = NULL, lease_until = NULL';

/** $1: free slots, as the function says; $2: duration of the leases in milliseconds. */
export const CLAIM = `
  SELECT claim_id AS "claimId", id, run_id AS "runId", workspace_id AS "workspaceId", agent_id AS "agentId",
         evaluation_id AS "evaluationId", protocol, medium, bills, credential, capacity, is_repeated AS "isRepeated"
    FROM claim_calls($1, $2 * interval '1 millisecond')`;

/**
 * $1: JSON list of ended calls (`EndedCall`); $2: ids of the calls; $3: their fencing tokens. Returns the calls whose
 * tokens were valid. Statements that change many calls lock them in order of their ids to avoid deadlocks.
 */
export const END = `
  WITH given AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS g (id uuid, "claimId" uuid, outcome text, score double precision,
           reason text, latencies double precision[], attempt jsonb, result jsonb)),
  held AS MATERIALIZED (
    SELECT id, claim_id FROM calls WHERE id = ANY ($2::uuid[]) AND claim_id = ANY ($3::uuid[]) ORDER BY id FOR UPDATE),
  ended AS (
    UPDATE calls c SET status = 'ENDED', outcome = g.outcome, score = g.score, reason = g.reason,
           latencies = g.latencies, attempts = c.attempts || g.attempt, ended_at = now(), ${UNCLAIMED}, ${CHANGED}
      FROM held h JOIN given g ON g.id = h.id AND g."claimId" = h.claim_id
     WHERE c.id = h.id RETURNING c.id, g."claimId", g.result),
  stored AS (INSERT INTO call_results (call_id, result) SELECT id, result FROM ended)
  SELECT id, "claimId" FROM ended`;

/** $3: the attempt; $4: milliseconds until the next one; $5: its result; $6: by how much it adds to the retries. */
export const RETRY = `
  WITH retried AS (
    UPDATE calls SET status = 'QUEUED', attempts = attempts || $3::jsonb, retries = retries + $6::int,
           due_at = now() + $4 * interval '1 millisecond', ${UNCLAIMED}, ${CHANGED}
     WHERE id = $1 AND claim_id = $2 RETURNING id, due_at, jsonb_array_length(attempts) AS number),
  stored AS (INSERT INTO call_attempts (call_id, number, result) SELECT id, number, $5::jsonb FROM retried)
  SELECT id FROM retried`;

/** Requeues a call for which nothing is paid. $3: milliseconds until it asks again; $4: whether it waits for capacity from now on. */
export const WAIT = `
  WITH unpaid AS (
    UPDATE platform_calls SET placed_at = NULL, paid_seconds = NULL, paid_by = NULL WHERE claim_id = $2)
  UPDATE calls SET status = 'QUEUED', due_at = now() + $3 * interval '1 millisecond',
         capacity_wait_since = CASE WHEN $4::boolean THEN now() END, ${UNCLAIMED}, ${CHANGED}
   WHERE id = $1 AND claim_id = $2`;

/**
 * Requeues a call whose execution was interrupted. $3: the interrupted attempt; $4: what is known of its result, or null; $5: the
 * channel on which it is announced.
 */
export const RELEASE = `
  WITH released AS (
    UPDATE calls SET status = 'QUEUED', attempts = attempts || $3::jsonb, due_at = now(), ${UNCLAIMED}, ${CHANGED}
     WHERE id = $1 AND claim_id = $2 RETURNING id, jsonb_array_length(attempts) AS number),
  stored AS (
    INSERT INTO call_attempts (call_id, number, result)
    SELECT id, number, $4::jsonb FROM released WHERE $4::jsonb IS NOT NULL)
  SELECT pg_notify($5, '') FROM released`;

/**
 * $1: calls; $2: their fencing tokens, in the same order; $3: milliseconds. Returns the claims that are still valid.
 * Locks the calls in order of their ids to avoid deadlocks.
 */
export const RENEW = `
  WITH mine AS MATERIALIZED (
    SELECT c.id FROM calls c JOIN unnest($1::uuid[], $2::uuid[]) AS m (id, claim_id)
        ON c.id = m.id AND c.claim_id = m.claim_id ORDER BY c.id FOR UPDATE OF c)
  UPDATE calls c SET lease_until = now() + $3 * interval '1 millisecond'
    FROM mine WHERE c.id = mine.id RETURNING c.claim_id AS "claimId"`;

/** A separate statement, because the snapshot of the statement that claims may be older than the last attempt. */
export const ATTEMPTS = `
  SELECT c.attempts, c.source_call_id IS NOT NULL AS "isDerived", c.bills AND (
           SELECT count(*) FROM platform_calls p WHERE p.call_id = c.id AND p.placed_at IS NOT NULL
         ) >= r.max_paid_attempts AS "isPaidUp"
    FROM calls c JOIN runs r ON r.id = c.run_id WHERE c.id = $1`;

export const VARIABLES = 'SELECT variables FROM calls WHERE id = $1';

/** Those of the runs $1 in which no call is left. */
export const ARE_OVER = `
  SELECT r.id FROM unnest($1::uuid[]) r (id)
   WHERE NOT EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.id AND c.status IN ('QUEUED', 'RUNNING'))`;

/** A case has a row of variables if the first call of its evaluation has one. */
export const SNAPSHOT = `
  SELECT e.snapshot, r.agent_snapshot AS agent, r.derived_kind AS "derivedKind",
         r.agent_variables AS "agentVariables", r.assistant_version AS "assistantVersion", EXISTS (
           SELECT 1 FROM calls c WHERE c.run_id = $1 AND c.position = e.first_call AND c.variables IS NOT NULL) AS "hasVariables"
    FROM run_evaluations e JOIN runs r ON r.id = e.run_id
   WHERE e.run_id = $1 AND e.evaluation_id = $2`;

/** One process at a time sweeps. */
export const TRY_SWEEP = `SELECT pg_try_advisory_xact_lock(hashtextextended('calls:sweep', 0)) AS taken`;

const iso = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * $1: number of lease expirations that end a call; $2: its reason then; $3: the interrupted attempt, without times and call id. It
 * started when it was claimed (`updated_at`), and ends when the expiration is noticed.
 */
export const EXPIRE_LEASES = `
  UPDATE calls SET status = CASE WHEN lease_expirations + 1 < $1 THEN 'QUEUED' ELSE 'ENDED' END,
         outcome = CASE WHEN lease_expirations + 1 < $1 THEN NULL ELSE 'error' END,
         reason = CASE WHEN lease_expirations + 1 < $1 THEN NULL ELSE $2 END,
         attempts = attempts || ($3::jsonb || jsonb_build_object(
           'startedAt', ${iso('updated_at')}, 'endedAt', ${iso('now()')}, 'callId', claim_id)),
         ended_at = CASE WHEN lease_expirations + 1 < $1 THEN NULL ELSE now() END,
         lease_expirations = lease_expirations + 1, due_at = now(), ${UNCLAIMED}, ${CHANGED}
   WHERE id IN (SELECT id FROM calls WHERE status = 'RUNNING' AND lease_until < now() ORDER BY id FOR UPDATE)
  RETURNING id`;

/** Due, unclaimed calls that their runs allow to start, by agent and protocol. */
export const WAITING = `
  SELECT w.protocol, least(w.due, w.concurrency - w.running)::int AS calls
    FROM (SELECT c.protocol, count(*) AS due, max(r.concurrency) AS concurrency,
                 (SELECT count(*) FROM calls o WHERE o.agent_id = c.agent_id AND o.status = 'RUNNING' AND o.lease_until < 'infinity') AS running
            FROM calls c JOIN runs r ON r.id = c.run_id
           WHERE c.status = 'QUEUED' AND c.due_at < now() - interval '2 seconds'
           GROUP BY c.agent_id, c.protocol, c.medium) w
   WHERE w.running < w.concurrency`;

/** Open runs whose calls have all ended; those of a day when no more are expected, and no longer than their sound may be. */
export const FIND_OVER = `
  SELECT r.id FROM runs r
   WHERE r.status IN ('QUEUED', 'RUNNING') AND coalesce(r.open_until, '-infinity') < now()
     AND (r.open_until IS NOT NULL OR EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.id))
     AND (r.open_until < now() - interval '6 hours'
          OR NOT EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.id AND c.status IN ('QUEUED', 'RUNNING')))
   LIMIT 100`;

/** Ends the queued calls `c` that the condition selects, with an attempt that says why. */
const endAsError = (code: string, reason: string, condition: string) => `
  UPDATE calls SET status = 'ENDED', outcome = 'error', reason = '${reason}.', ended_at = now(), updated_at = now(),
         waited_for_line_ms = waited_for_line_ms + capacity_wait_ms(capacity_wait_since), capacity_wait_since = NULL,
         attempts = attempts || jsonb_build_object('outcome', 'error', 'failureCode', '${code}', 'reason', '${reason}.',
                                                   'startedAt', ${iso('now()')}, 'endedAt', ${iso('now()')}, 'callId', null),
         changed_in = pg_current_xact_id()::text::bigint
   WHERE id IN (SELECT c.id FROM calls c WHERE c.status = 'QUEUED' AND ${condition} ORDER BY c.id FOR UPDATE SKIP LOCKED)
  RETURNING id`;

/**
 * $1: milliseconds. Only if a process has executed calls all this time, and the platform has carried no call of the agent in it: a
 * run that is wider than its capacity waits for itself.
 */
export const END_BUSY = endAsError(
  'platform_busy',
  'The platform had no line free for the call within 15 minutes',
  `c.capacity_wait_since IS NOT NULL AND c.waited_for_line_ms + capacity_wait_ms(c.capacity_wait_since) > $1::integer
   AND EXISTS (SELECT FROM queue_workers WHERE started_at < now() - $1::integer * interval '1 millisecond')
   AND NOT EXISTS (
     SELECT 1 FROM platform_calls p
      WHERE p.agent_id = c.agent_id AND (p.placed_at IS NOT NULL OR NOT p.bills)
        AND (p.ended_at IS NULL OR p.ended_at > now() - $1::integer * interval '1 millisecond'))`,
);

export const END_NOT_ENDED = endAsError(
  'platform_unended',
  'The platform could not be asked to end an earlier attempt at the call',
  `c.bills AND EXISTS (SELECT 1 FROM platform_calls p WHERE p.call_id = c.id AND p.state = 'not_ended')`,
);
