/** $1: claim. Changes nothing if the paid attempts are used up. */
export const DIAL = `
  WITH known AS MATERIALIZED (
    SELECT p.claim_id, r.max_paid_attempts AS "maxPaidAttempts",
           (SELECT count(*)::int FROM platform_calls o WHERE o.call_id = p.call_id AND o.placed_at IS NOT NULL) AS "paidAttempts"
      FROM platform_calls p JOIN runs r ON r.id = p.run_id WHERE p.claim_id = $1 AND p.state = 'line'),
  dialled AS (
    UPDATE platform_calls p SET state = 'dialling', updated_at = now()
      FROM known k WHERE p.claim_id = k.claim_id AND k."paidAttempts" < k."maxPaidAttempts")
  SELECT "paidAttempts", "maxPaidAttempts" FROM known`;

/**
 * A line for the test of a connection. $1: claim; $2: agent; $3: workspace; $4: medium; $5: protocol; $6: whether it is billed;
 * $7: credential; $8: number of its lines; $9: milliseconds. One statement: the lock is held before lines are counted.
 */
export const TAKE_FOR_TEST = `
  SELECT take_line_for_test($1, $2, $3, $4, $5, $6, $7, $8, $9 * interval '1 millisecond') AS "isTaken"`;

/** $1: claim; $2: handle, encrypted; $3: id in the records of the platform, or null. */
export const PLACED = `
  UPDATE platform_calls SET state = 'placed', handle = $2, platform_id = $3, placed_at = clock_timestamp(), updated_at = now()
   WHERE claim_id = $1 AND state IN ('dialling', 'placed') RETURNING claim_id`;

/** $2: id in the records of the platform. */
export const IDENTIFIED = `UPDATE platform_calls SET platform_id = $2, updated_at = now() WHERE claim_id = $1`;

export const PAID = `
  UPDATE platform_calls SET paid_seconds = $2, paid_by = 'platform', updated_at = now() WHERE claim_id = $1`;

export const RELEASE = `
  SELECT agent_id AS "agentId", medium, workspace_id AS "workspaceId" FROM release_line($1)`;

/** $2: failures after which it is given up; $3: milliseconds until the next try. */
export const END_FAILED = `
  UPDATE platform_calls SET end_failures = end_failures + 1, updated_at = now(),
         lease_until = now() + $3 * interval '1 millisecond',
         state = CASE WHEN end_failures + 1 < $2 THEN state ELSE 'unended' END
   WHERE claim_id = $1 AND state <> 'ended' RETURNING end_failures AS failures`;

/** Locks in order of the ids, as other statements that change many rows. $1: claims; $2: milliseconds. */
export const RENEW = `
  UPDATE platform_calls SET lease_until = now() + $2 * interval '1 millisecond'
   WHERE claim_id IN (SELECT claim_id FROM platform_calls
                       WHERE claim_id = ANY ($1::uuid[]) AND state <> 'ended' ORDER BY claim_id FOR UPDATE)`;

/**
 * One of each workspace, then a second one and so on: a platform that does not end its calls delays those of its workspace.
 * $1: maximum number; $2: milliseconds for which they are this process's.
 */
export const TAKE_ABANDONED = `
  WITH due AS (
    SELECT claim_id, lease_until, row_number() OVER (PARTITION BY workspace_id ORDER BY lease_until, claim_id) AS nth
      FROM platform_calls WHERE state IN ('line', 'dialling', 'placed') AND lease_until < now()),
  next AS (SELECT claim_id FROM due ORDER BY nth, lease_until, claim_id LIMIT $1)
  UPDATE platform_calls SET lease_until = now() + $2 * interval '1 millisecond'
   WHERE claim_id IN (SELECT claim_id FROM platform_calls
                       WHERE claim_id IN (SELECT claim_id FROM next)
                         AND state IN ('line', 'dialling', 'placed') AND lease_until < now()
                       ORDER BY claim_id FOR UPDATE SKIP LOCKED)
  RETURNING claim_id AS "claimId", agent_id AS "agentId", workspace_id AS "workspaceId", protocol, bills, state, handle,
            end_failures AS "endFailures"`;

const iso = `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Ends the queued calls `c` that the condition selects, with an attempt that says why. */
const endAsError = (code: string, reason: string, condition: string) => `
  UPDATE calls SET status = 'ENDED', outcome = 'error', reason = '${reason}.', ended_at = now(), updated_at = now(),
         waited_for_line_ms = waited_for_line_ms + line_wait_ms(line_wait_since), line_wait_since = NULL,
         attempts = attempts || jsonb_build_object('outcome', 'error', 'failureCode', '${code}', 'reason', '${reason}.',
                                                   'startedAt', ${iso}, 'endedAt', ${iso}, 'callId', null),
         changed_in = pg_current_xact_id()::text::bigint
   WHERE id IN (SELECT c.id FROM calls c WHERE c.status = 'QUEUED' AND ${condition} ORDER BY c.id FOR UPDATE SKIP LOCKED)
  RETURNING id`;

/**
 * $1: milliseconds. Only if no call of the agent has been on the line in that time: a run that is wider than its lines
 * waits for itself.
 */
export const END_BUSY = endAsError(
  'platform_busy',
  'The platform had no line free for the call within 15 minutes',
  `c.line_wait_since IS NOT NULL AND c.waited_for_line_ms + line_wait_ms(c.line_wait_since) > $1::integer
   AND NOT EXISTS (
     SELECT 1 FROM platform_calls p
      WHERE p.agent_id = c.agent_id AND (p.placed_at IS NOT NULL OR NOT p.bills)
        AND (p.ended_at IS NULL OR p.ended_at > now() - $1::integer * interval '1 millisecond'))`,
);

export const END_UNENDED = endAsError(
  'platform_unended',
  'The platform could not be asked to end an earlier attempt at the call',
  `c.bills AND EXISTS (SELECT 1 FROM platform_calls p WHERE p.call_id = c.id AND p.state = 'unended')`,
);

export const FORGET_WAITS = `DELETE FROM line_waits WHERE seen_at < now() - interval '1 hour'`;

/** Tests belong to no call, with which they would be deleted. */
export const FORGET_TESTS = `
  DELETE FROM platform_calls WHERE call_id IS NULL AND created_at < now() - interval '1 day'`;

export const COUNT_UNENDED = `SELECT count(*)::int AS count FROM platform_calls WHERE state = 'unended'`;
