import { notErased } from '../../platform/database/erased-agents.js';
import { deliveryKey } from './delivery-job.js';

/** Whether the process that claimed the delivery is alive; claims of dead processes are void. */
const IS_CLAIMED = 'd.claimed_by IN (SELECT id FROM queue_workers)';
const ACTIVE = `(SELECT count(*)::int FROM webhook_deliveries o
                  WHERE o.target_id = d.target_id AND o.claimed_by IN (SELECT id FROM queue_workers))`;

/** Serialises claiming and recording deliveries of one receiver across processes. */
export const LOCK_TARGET = `SELECT pg_advisory_xact_lock(hashtextextended('webhooks:' || $1, 0))`;

export const FIND_TO_CLAIM = `
  SELECT d.id, d.event_id AS "eventId", d.target_id AS "targetId", d.endpoint_id AS "endpointId",
         d.agent_id AS "agentId", d.status, d.tries, d.is_forced AS "isForced", coalesce(${IS_CLAIMED}, false) AS "isClaimed",
         d.next_attempt_at > now() + interval '1 second' AS "isEarly", ${ACTIVE} AS active, v.body,
         v.agent_id AS about, a.name AS "agentName", e.format, e.links,
         e.url, e.enabled, e.secret, e.failing_since IS NOT NULL AS "isFailing",
         CASE WHEN e.previous_secret_expires_at > now() THEN e.previous_secret END AS "previousSecret"
    FROM webhook_deliveries d
    JOIN webhook_events v ON v.id = d.event_id
    LEFT JOIN webhook_endpoints e ON e.id = d.endpoint_id
    LEFT JOIN agents a ON a.id = v.agent_id
   WHERE d.id = $1 AND ${notErased('v.agent_id')} FOR UPDATE OF d`;

export const CLAIM = `UPDATE webhook_deliveries SET claimed_by = $2, claim_id = $3, is_parked = false WHERE id = $1`;

export const PARK = 'UPDATE webhook_deliveries SET is_parked = true WHERE id = $1';

export const FAIL = `
  UPDATE webhook_deliveries SET status = 'FAILED', next_attempt_at = NULL, is_parked = false, updated_at = now()
   WHERE id = $1`;

/** $3: milliseconds after which a failing endpoint is disabled. */
export const FIND_TO_RECORD = `
  SELECT d.tries, e.enabled, e.failing_since IS NOT NULL AS "isFailing",
         coalesce(e.failing_since <= now() - $3 * interval '1 millisecond', false) AS "hasFailedForLong"
    FROM webhook_deliveries d LEFT JOIN webhook_endpoints e ON e.id = d.endpoint_id
   WHERE d.id = $1 AND d.claim_id = $2 FOR UPDATE OF d`;

/** $3: the attempt; $4: status; $5: milliseconds until the next attempt, or null. */
export const RECORD = `
  UPDATE webhook_deliveries
     SET attempts = CASE WHEN jsonb_array_length(attempts) < 50 THEN attempts ELSE attempts - 0 END || $2::jsonb,
         status = $3, next_attempt_at = now() + $4 * interval '1 millisecond', tries = tries + 1,
         is_forced = false, claimed_by = NULL, claim_id = NULL, updated_at = now()
   WHERE id = $1
  RETURNING next_attempt_at AS "nextAttemptAt"`;

export const RELEASE = `
  UPDATE webhook_deliveries SET claimed_by = NULL, claim_id = NULL WHERE id = $1 AND claim_id = $2 RETURNING id`;

export const CLEAR_FAILING = 'UPDATE webhook_endpoints SET failing_since = NULL WHERE id = $1';

export const MARK_FAILING = 'UPDATE webhook_endpoints SET failing_since = coalesce(failing_since, now()) WHERE id = $1';

export const DISABLE = `
  UPDATE webhook_endpoints SET enabled = false, disabled_reason = $2, disabled_at = now(), updated_at = now()
   WHERE id = $1 AND enabled`;

/** Except deliveries in progress, which may still succeed, and forced ones, which are attempted once. */
export const FAIL_PENDING = `
  UPDATE webhook_deliveries SET status = 'FAILED', next_attempt_at = NULL, is_parked = false, updated_at = now()
   WHERE endpoint_id = $1 AND status = 'PENDING' AND claimed_by IS NULL AND NOT is_forced`;

/** $2: maximum number of concurrent deliveries to the receiver. */
export const WAKE = `
  WITH chosen AS (
    SELECT d.id FROM webhook_deliveries d WHERE d.target_id = $1 AND d.is_parked ORDER BY d.next_attempt_at
     LIMIT greatest($2 - (SELECT count(*) FROM webhook_deliveries o
                           WHERE o.target_id = $1 AND o.claimed_by IN (SELECT id FROM queue_workers)), 0)
       FOR UPDATE)
  UPDATE webhook_deliveries d SET is_parked = false FROM chosen WHERE d.id = chosen.id RETURNING d.id`;

/** One process at a time sweeps. */
export const TRY_SWEEP = `SELECT pg_try_advisory_xact_lock(hashtextextended('webhooks:sweep', 0)) AS taken`;

/** $1: this process; $2: its attempts in progress. */
export const DROP_VOID_CLAIMS = `
  UPDATE webhook_deliveries SET claimed_by = NULL, claim_id = NULL
   WHERE claimed_by IS NOT NULL
     AND (claimed_by NOT IN (SELECT id FROM queue_workers) OR (claimed_by = $1 AND claim_id <> ALL ($2::uuid[])))`;

/** Deliveries overdue by 5 seconds without a job that runs soon. */
export const FIND_LOST = `
  SELECT d.id, d.target_id AS "targetId" FROM webhook_deliveries d
   WHERE d.status = 'PENDING' AND d.next_attempt_at < now() - interval '5 seconds'
     AND d.claimed_by IS NULL AND NOT d.is_parked
     AND NOT EXISTS (SELECT 1 FROM graphile_worker.jobs j
                      WHERE j.key = '${deliveryKey('')}' || d.id
                        AND (j.locked_at IS NOT NULL
                             OR (j.attempts < j.max_attempts AND j.run_at < now() + interval '5 seconds')))
   ORDER BY d.next_attempt_at LIMIT 1000`;

/** Receivers with parked deliveries but none in progress. */
export const FIND_STUCK_TARGETS = `
  SELECT DISTINCT d.target_id AS "targetId" FROM webhook_deliveries d
   WHERE d.is_parked AND NOT EXISTS (SELECT 1 FROM webhook_deliveries o
                                      WHERE o.target_id = d.target_id AND o.claimed_by IS NOT NULL)`;

/**
 * $1: days; $2: maximum number of events. Deletes events whose deliveries all ended before that time, with the
 * deliveries.
 */
export const PRUNE_EVENTS = `
  DELETE FROM webhook_events WHERE id IN (
    SELECT v.id FROM webhook_events v
     WHERE v.created_at < now() - $1 * interval '24 hours'
       AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d
                        WHERE d.event_id = v.id
                          AND (d.status = 'PENDING' OR d.updated_at >= now() - $1 * interval '24 hours'))
     ORDER BY v.created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING id`;

/** $2: maximum number of events. Also those of an earlier version, which have no agent, if they were sent to the agent's address. */
export const ERASE_EVENTS = `
  DELETE FROM webhook_events WHERE id = ANY (ARRAY(
    SELECT id FROM webhook_events WHERE agent_id = $1
     UNION SELECT event_id FROM webhook_deliveries WHERE agent_id = $1 LIMIT $2))
  RETURNING id`;

/** $1: an agent; $2: its run. The reasons of failed cases quote what was said. A body is signed when it is sent. */
export const FORGET_REASONS = `
  UPDATE webhook_events SET body = jsonb_set(body::jsonb, '{data,failedCases}', coalesce(
           (SELECT jsonb_agg(one || '{"reason": null}') FROM jsonb_array_elements(body::jsonb #> '{data,failedCases}') one),
           '[]'))::text
   WHERE agent_id = $1 AND type = 'run.failed' AND body::jsonb #>> '{data,run,id}' = $2::text`;

/** For a list of deliveries `d`: agents that are being erased are few, so their events are found first. */
export const NOT_ERASED = `d.event_id NOT IN (
  SELECT e.id FROM agents a JOIN webhook_events e ON e.agent_id = a.id WHERE a.erased_at IS NOT NULL)`;

/** The columns of a delivery in responses, of `webhook_deliveries d` and `webhook_events v`. */
export const COLUMNS = `d.id, d.workspace_id AS "workspaceId", d.event_id AS "eventId", v.type AS "eventType", d.status,
  d.attempts, d.next_attempt_at AS "nextAttemptAt", d.target_id AS "targetId", d.created_at AS "createdAt"`;
export const JOIN_EVENT = 'JOIN webhook_events v ON v.id = d.event_id';

export const FIND = `SELECT ${COLUMNS} FROM webhook_deliveries d ${JOIN_EVENT} WHERE d.id = $1 AND ${notErased('v.agent_id')}`;

export const REDELIVER = `
  UPDATE webhook_deliveries SET status = 'PENDING', tries = 0, next_attempt_at = now(), is_forced = true,
         is_parked = false, updated_at = now()
   WHERE id = $1 AND status <> 'PENDING' RETURNING id`;
