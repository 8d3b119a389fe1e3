/** $1: claim. Changes nothing if the paid attempts are used up. No row if the call was cancelled or its lease was lost. */
export const DIAL = `
  WITH known AS MATERIALIZED (
    SELECT p.claim_id, r.max_paid_attempts AS "maxPaidAttempts",
           (SELECT count(*)::int FROM platform_calls o WHERE o.call_id = p.call_id AND o.placed_at IS NOT NULL) AS "paidAttempts"
      FROM platform_calls p JOIN runs r ON r.id = p.run_id
      JOIN calls c ON c.id = p.call_id AND c.claim_id = p.claim_id
     WHERE p.claim_id = $1 AND p.state = 'reserved'),
  dialled AS (
    UPDATE platform_calls p SET state = 'dialling', updated_at = now()
      FROM known k WHERE p.claim_id = k.claim_id AND k."paidAttempts" < k."maxPaidAttempts")
  SELECT "paidAttempts", "maxPaidAttempts" FROM known`;

/** $1: agent; $2: protocol; $3: credential; $4: calls of it at once. */
export const STORE = `
  INSERT INTO agent_capacity AS k (agent_id, protocol, credential, capacity) VALUES ($1, $2, $3, $4)
  ON CONFLICT (agent_id, protocol) DO UPDATE SET credential = excluded.credential, capacity = excluded.capacity, updated_at = now()
   WHERE (k.credential, k.capacity) IS DISTINCT FROM (excluded.credential, excluded.capacity)`;

export const FORGET = 'DELETE FROM agent_capacity WHERE agent_id = $1 AND protocol = $2';

/**
 * Capacity for the test of a connection. $1: claim; $2: agent; $3: workspace; $4: medium; $5: protocol; $6: whether it is billed;
 * $7: credential; $8: its calls at once; $9: milliseconds. One statement: the lock is held before calls are counted.
 */
export const RESERVE = `
  SELECT reserve_for_test($1, $2, $3, $4, $5, $6, $7, $8, $9 * interval '1 millisecond') AS "isReserved"`;

/**
 * $1: claim; $2: handle, encrypted; $3: id in the records of the platform, or null; $4: the same for `own_calls`; $5: the number
 * that calls, or null for the attempt's own. A later handle, such as that of the end of a call over SIP, does not shorten what is paid.
 */
export const PLACED = `
  WITH placed AS (
    UPDATE platform_calls SET state = 'placed', handle = $2, platform_id = $3, placed_at = coalesce(placed_at, clock_timestamp()), updated_at = now()
     WHERE claim_id = $1 AND state IN ('dialling', 'placed') RETURNING claim_id, coalesce($5, number) AS number),
  own AS (
    INSERT INTO own_calls (key, number)
    SELECT $4, NULL WHERE $4::text IS NOT NULL
     UNION ALL SELECT claim_id::text, ltrim(number, '+') FROM placed WHERE number IS NOT NULL
    ON CONFLICT DO NOTHING)
  SELECT claim_id FROM placed`;

/** $2: id in the records of the platform; $3: the same for `own_calls`. */
export const IDENTIFIED = `
  WITH own AS (INSERT INTO own_calls (key) VALUES ($3) ON CONFLICT DO NOTHING)
  UPDATE platform_calls SET platform_id = $2, updated_at = now() WHERE claim_id = $1`;

/** Which of these keys are of calls of this service. */
export const OWN = 'SELECT key FROM own_calls WHERE key = ANY ($1::text[])';

/**
 * Whether a call of this service had this number then, give or take a minute. $1: digits; $2: from; $3: until. The end of one that
 * was not noted is at most two hours after its start.
 */
export const OWN_NUMBER = `
  SELECT EXISTS (
    SELECT FROM own_calls WHERE number = $1 AND created_at <= $3::timestamptz + interval '1 minute'
       AND coalesce(ended_at, least(now(), created_at + interval '2 hours')) >= $2::timestamptz - interval '1 minute') AS "isOwn"`;

/** $1: days. */
export const FORGET_OWN = `
  DELETE FROM own_calls WHERE key IN (
    SELECT key FROM own_calls WHERE created_at < now() - $1 * interval '1 day' LIMIT 1000 FOR UPDATE SKIP LOCKED)`;

export const PAID = `
  UPDATE platform_calls SET paid_seconds = $2, paid_by = 'platform', updated_at = now() WHERE claim_id = $1`;

export const RELEASE = `
  WITH own AS (UPDATE own_calls SET ended_at = clock_timestamp() WHERE key = $1::text AND ended_at IS NULL)
  UPDATE platform_calls SET state = 'ended', handle = NULL, ended_at = clock_timestamp(), updated_at = clock_timestamp(),
         number_until = CASE WHEN number IS NOT NULL THEN greatest(number_until, clock_timestamp() + interval '30 seconds') END,
         paid_by = coalesce(paid_by, CASE WHEN placed_at IS NOT NULL THEN 'tester' END),
         paid_seconds = coalesce(paid_seconds, extract(epoch FROM clock_timestamp() - placed_at)::double precision)
   WHERE claim_id = $1::uuid AND state <> 'ended'`;

/** $2: failures after which it is given up; $3: milliseconds until the next try. */
export const END_FAILED = `
  UPDATE platform_calls SET end_failures = end_failures + 1, updated_at = now(),
         lease_until = now() + $3 * interval '1 millisecond',
         state = CASE WHEN end_failures + 1 < $2 THEN state ELSE 'not_ended' END
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
      FROM platform_calls WHERE state IN ('reserved', 'dialling', 'placed') AND lease_until < now()),
  next AS (SELECT claim_id FROM due ORDER BY nth, lease_until, claim_id LIMIT $1)
  UPDATE platform_calls SET lease_until = now() + $2 * interval '1 millisecond'
   WHERE claim_id IN (SELECT claim_id FROM platform_calls
                       WHERE claim_id IN (SELECT claim_id FROM next)
                         AND state IN ('reserved', 'dialling', 'placed') AND lease_until < now()
                       ORDER BY claim_id FOR UPDATE SKIP LOCKED)
  RETURNING claim_id AS "claimId", agent_id AS "agentId", workspace_id AS "workspaceId", protocol, bills, state, handle,
            end_failures AS "endFailures"`;

/** What belongs to no call: attempts of deleted runs that have ended, and after a day tests and what could not be ended. */
export const FORGET_OVER = `
  DELETE FROM platform_calls WHERE claim_id IN (
    SELECT claim_id FROM platform_calls
     WHERE call_id IS NULL AND state IN ('ended', 'not_ended')
       AND (created_at < now() - interval '1 day' OR run_id IS NOT NULL AND state = 'ended')
     ORDER BY claim_id FOR UPDATE SKIP LOCKED)`;

/** So that two attempts do not choose the same number. */
export const LOCK_NUMBERS = `SELECT pg_advisory_xact_lock(hashtextextended('numbers:lease', 0))`;

/** $1: claim; $2: numbers. The one that has been free longest. */
export const LEASE_NUMBER = `
  WITH free AS (
    SELECT n.number FROM unnest($2::text[]) AS n (number)
     WHERE NOT EXISTS (SELECT FROM platform_calls o WHERE o.number = n.number AND o.state IN ('reserved', 'dialling', 'placed'))
       AND NOT EXISTS (SELECT FROM platform_calls o WHERE o.number = n.number AND o.number_until > now())
     ORDER BY (SELECT max(o.number_until) FROM platform_calls o WHERE o.number = n.number) NULLS FIRST, n.number LIMIT 1)
  UPDATE platform_calls p SET number = free.number, updated_at = now()
    FROM free WHERE p.claim_id = $1 AND p.state IN ('reserved', 'dialling') RETURNING p.number`;

/** $1: claim; $2: milliseconds in which its call may come to its number. */
export const EXPECT_CALL = `
  UPDATE platform_calls SET number_until = now() + $2 * interval '1 millisecond', updated_at = now() WHERE claim_id = $1`;

export const COUNT_NOT_ENDED = `SELECT count(*)::int AS count FROM platform_calls WHERE state = 'not_ended'`;
