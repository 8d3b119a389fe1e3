import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { FetchedCallEntity, FetchedOutcome } from './fetched-call.entity.js';
import type { MonitoringEntity, MonitoringState } from './monitoring.entity.js';

/** What customers set. */
const SETTINGS =
  'sample_percent AS "samplePercent", recordings, redact, judge, max_judged_per_day AS "maxJudgedPerDay"';

/** Whether an agent is monitored is a field of the agent. One that is switched on begins now. */
const FOLLOW_AGENTS = `
  WITH wanted AS (
    SELECT id, workspace_id FROM agents WHERE call_monitoring AND deleted_at IS NULL),
  off AS (
    UPDATE agent_monitoring m SET fetched_until = NULL, state = 'off', message = NULL, updated_at = now()
     WHERE m.fetched_until IS NOT NULL AND NOT EXISTS (SELECT FROM wanted w WHERE w.id = m.agent_id))
  INSERT INTO agent_monitoring AS m (agent_id, workspace_id, state, fetched_until)
  SELECT w.id, w.workspace_id, 'starting', now() FROM wanted w
   WHERE NOT EXISTS (SELECT FROM agent_monitoring k WHERE k.agent_id = w.id AND k.fetched_until IS NOT NULL)
  ON CONFLICT (agent_id) DO UPDATE SET fetched_until = now(), state = 'starting', message = NULL, failures = 0,
    due_at = now(), account = NULL, updated_at = now()
   WHERE m.fetched_until IS NULL`;

/** Claims are made one after the other, so that a credential is in one process. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('monitoring:claim', 0))`;

/** $1: most agents; $2: milliseconds. One agent of each credential; the longest due first. */
const CLAIM = `
  WITH due AS (
    SELECT DISTINCT ON (coalesce(m.credential, m.agent_id::text)) m.agent_id, m.due_at
      FROM agent_monitoring m
     WHERE m.fetched_until IS NOT NULL AND m.due_at <= now() AND coalesce(m.lease_until, '-infinity') < now()
       AND NOT EXISTS (SELECT FROM agent_monitoring o WHERE o.credential = m.credential AND o.lease_until > now())
     ORDER BY coalesce(m.credential, m.agent_id::text), m.due_at)
  UPDATE agent_monitoring SET lease_until = now() + $2 * interval '1 millisecond'
   WHERE agent_id IN (SELECT agent_id FROM due ORDER BY due_at LIMIT $1)
  RETURNING agent_id AS "agentId", workspace_id AS "workspaceId", ${SETTINGS}, state, message,
            fetched_until AS "fetchedUntil", credential, account, failures`;

/** $2: state; $3: message; $4: until when calls are known, or null for as before; $5: due; $6: failures; $7: credential; $8: account; $9: until when they were known.
 * One that was set back in between stays so. */
const RELEASE = `
  UPDATE agent_monitoring SET state = $2, message = $3, due_at = $5, failures = $6,
         fetched_until = CASE WHEN fetched_until = $9 THEN coalesce($4, fetched_until) ELSE fetched_until END,
         credential = $7, account = $8, lease_until = NULL, updated_at = now(),
         last_fetched_at = CASE WHEN $2 = 'healthy' THEN now() ELSE last_fetched_at END
   WHERE agent_id = $1 AND fetched_until IS NOT NULL`;

/** $2: ids. Those that need not be read. */
const KNOWN = `SELECT platform_id AS id FROM fetched_calls WHERE agent_id = $1 AND platform_id = ANY ($2::text[])`;

/** $2: most. */
const AGAIN = `
  SELECT platform_id AS id, ended_at AS "endedAt", readings FROM fetched_calls
   WHERE agent_id = $1 AND due_at <= now() AND NOT awaits_sound ORDER BY due_at LIMIT $2`;

/** $2: most. Their calls go on until the recording is there. */
const SOUNDS = `
  SELECT f.platform_id AS id, f.ended_at AS "endedAt", NOT EXISTS (
           SELECT FROM call_imports i JOIN calls c ON c.id = i.call_id
            WHERE i.agent_id = f.agent_id AND i.external_id = f.platform_id AND c.status = 'RUNNING') AS "isOver"
    FROM fetched_calls f
   WHERE f.agent_id = $1 AND f.due_at <= now() AND f.awaits_sound ORDER BY f.due_at LIMIT $2`;

/** $1: milliseconds since the end of the call; $2: most. Of calls whose recording was not asked for in the last hour. */
const ABANDONED = `
  SELECT DISTINCT ON (i.agent_id, i.external_id) jsonb_build_object('id', i.external_id, 'endedAt', c.ended_at) AS call,
         m.agent_id AS "agentId", m.workspace_id AS "workspaceId", ${SETTINGS}
    FROM calls c JOIN call_imports i ON i.call_id = c.id JOIN agent_monitoring m ON m.agent_id = i.agent_id
    JOIN agents a ON a.id = m.agent_id AND a.deleted_at IS NULL
   WHERE c.status = 'RUNNING' AND c.lease_until = 'infinity' AND c.ended_at < now() - $1 * interval '1 millisecond'
     AND NOT EXISTS (SELECT FROM fetched_calls f WHERE f.agent_id = i.agent_id AND f.platform_id = i.external_id
                        AND f.awaits_sound AND f.due_at > now() - interval '1 hour')
   LIMIT $2`;

/** $2: milliseconds. */
const RENEW = `
  UPDATE agent_monitoring SET lease_until = now() + $2 * interval '1 millisecond' WHERE agent_id = $1 AND lease_until IS NOT NULL`;

/** $2: id; $3: outcome; $4: issue; $5: end; $6: when it is read again, or null; $7: whether its recording is awaited. */
const NOTE = `
  INSERT INTO fetched_calls AS f (agent_id, platform_id, outcome, issue, ended_at, due_at, awaits_sound)
  SELECT $1, $2, $3, $4, $5, $6, $7 WHERE EXISTS (SELECT FROM agents WHERE id = $1)
  ON CONFLICT (agent_id, platform_id) DO UPDATE SET outcome = excluded.outcome, issue = excluded.issue,
    due_at = excluded.due_at, awaits_sound = excluded.awaits_sound, readings = f.readings + 1`;

const FIND = `
  SELECT state, message, last_fetched_at AS "lastFetchedAt", ${SETTINGS}
    FROM agent_monitoring WHERE agent_id = $1`;

/** $2: since when. `failed`: those of the judged ones that failed by at least one evaluation. */
const COUNTS = `
  SELECT outcome, count(*)::int AS count FROM fetched_calls WHERE agent_id = $1 AND fetched_at >= $2 GROUP BY outcome
   UNION ALL
  SELECT 'failed', count(*)::int FROM fetched_calls f WHERE agent_id = $1 AND fetched_at >= $2 AND outcome = 'judged' AND EXISTS (
    SELECT FROM call_imports i JOIN calls c ON c.id = i.call_id
     WHERE i.agent_id = f.agent_id AND i.external_id = f.platform_id AND c.outcome = 'failed')`;

/** $2: most. Calls that were not judged because their record cannot be read, the newest first. */
const ISSUES = `
  SELECT platform_id AS "externalId", ended_at AS "endedAt", issue AS message FROM fetched_calls
   WHERE agent_id = $1 AND issue IS NOT NULL ORDER BY fetched_at DESC, platform_id LIMIT $2`;

/** $2: day; $3: most. What judges production calls, and is not in the run of that day as it is now. That it was proven changes nothing. */
const PENDING = `
  SELECT e.id, e.name FROM evaluations e JOIN runs r ON r.agent_id = e.agent_id AND r.day = $2
    LEFT JOIN run_evaluations p ON p.run_id = r.id AND p.evaluation_id = e.id
   WHERE e.agent_id = $1 AND e.deleted_at IS NULL AND e.scope IN ('production', 'both')
     AND (p.run_id IS NULL OR e.updated_at > r.created_at AND e.updated_at IS DISTINCT FROM e.proven_at)
   ORDER BY e.created_at, e.id LIMIT $3`;

/** $2: workspace; $3 to $7: settings. An agent that is not yet monitored is off. */
const PUT = `
  INSERT INTO agent_monitoring (agent_id, workspace_id, sample_percent, redact, judge, max_judged_per_day, recordings, state)
  VALUES ($1, $2, $3, $4, $5, $6, $7, 'off')
  ON CONFLICT (agent_id) DO UPDATE SET sample_percent = excluded.sample_percent, redact = excluded.redact,
    judge = excluded.judge, max_judged_per_day = excluded.max_judged_per_day, recordings = excluded.recordings,
    updated_at = now()`;

/** $2: since when. Begins with an agent that was switched on now. */
const BACKFILL = `
  INSERT INTO agent_monitoring AS m (agent_id, workspace_id, state, fetched_until)
  SELECT id, workspace_id, 'starting', $2 FROM agents WHERE id = $1 AND call_monitoring AND deleted_at IS NULL
  ON CONFLICT (agent_id) DO UPDATE SET fetched_until = least(m.fetched_until, excluded.fetched_until), due_at = least(m.due_at, now()),
    state = CASE WHEN m.fetched_until IS NULL THEN 'starting' ELSE m.state END,
    account = CASE WHEN m.fetched_until IS NOT NULL THEN m.account END, updated_at = now()
  RETURNING agent_id`;

/** $1: days. */
const PRUNE = `
  DELETE FROM fetched_calls WHERE (agent_id, platform_id) IN (
    SELECT agent_id, platform_id FROM fetched_calls WHERE fetched_at < now() - $1 * interval '1 day' LIMIT 1000 FOR UPDATE SKIP LOCKED)
  RETURNING agent_id`;

export type MonitoringSettings = Pick<
  MonitoringEntity,
  'samplePercent' | 'recordings' | 'redact' | 'judge' | 'maxJudgedPerDay'
>;

/** An agent with what is set of its calls. */
export type MonitoredCalls = MonitoringSettings & Pick<MonitoringEntity, 'agentId' | 'workspaceId'>;

/** A call that goes on until its recording is there. */
export interface AwaitedSound {
  readonly id: string;
  readonly endedAt: Date;
  /** Whether it has ended, or was deleted, in between. */
  readonly isOver?: boolean;
}

/** An agent whose calls this process fetches. */
export type ClaimedAgent = MonitoredCalls &
  Pick<MonitoringEntity, 'state' | 'message' | 'credential' | 'account' | 'failures'> & {
    readonly fetchedUntil: Date;
  };

/** A call whose record cannot be read. */
export interface FetchIssue {
  readonly externalId: string;
  readonly endedAt: Date;
  readonly message: string;
}

/** How the fetching ended. */
export interface Fetched {
  readonly state: MonitoringState;
  readonly message: string | null;
  /** Null: as before. */
  readonly fetchedUntil: Date | null;
  readonly dueAt: Date;
  readonly failures: number;
  readonly credential: string | null;
  readonly account: string | null;
}

/** SQL for the monitoring of production calls. */
@Injectable()
export class MonitoringRepository {
  constructor(private readonly database: Database) {}

  /** Begins with agents that are monitored now, and stops with others. */
  async followAgents(): Promise<void> {
    await this.database.query(FOLLOW_AGENTS, []);
  }

  async find(
    agentId: string,
  ): Promise<(MonitoringSettings & Pick<MonitoringEntity, 'state' | 'message' | 'lastFetchedAt'>) | undefined> {
    const [row] = await this.database.query<MonitoringEntity>(FIND, [agentId]);
    return row;
  }

  async issues(agentId: string, most: number): Promise<FetchIssue[]> {
    return this.database.query<FetchIssue>(ISSUES, [agentId, most]);
  }

  /** @param day YYYY-MM-DD @returns evaluations that do not count on this day as they are now */
  async pending(agentId: string, day: string, most: number): Promise<{ id: string; name: string }[]> {
    return this.database.query(PENDING, [agentId, day, most]);
  }

  /** Calls that were fetched, by what became of them. */
  async counts(agentId: string, since: Date): Promise<[FetchedOutcome | 'failed', number][]> {
    const rows = await this.database.query<{ outcome: FetchedOutcome | 'failed'; count: number }>(COUNTS, [
      agentId,
      since,
    ]);
    return rows.map(({ outcome, count }) => [outcome, count]);
  }

  async put(agentId: string, workspaceId: string, settings: MonitoringSettings): Promise<void> {
    const { samplePercent, redact, judge, maxJudgedPerDay, recordings } = settings;
    await this.database.query(PUT, [agentId, workspaceId, samplePercent, redact, judge, maxJudgedPerDay, recordings]);
  }

  /** @returns false for an agent that is not monitored */
  async backfill(agentId: string, since: Date): Promise<boolean> {
    return (await this.database.query(BACKFILL, [agentId, since])).length > 0;
  }

  async claim(most: number, leaseMs: number): Promise<ClaimedAgent[]> {
    return this.database.transaction(async () => {
      await this.database.query(LOCK, []);
      return this.database.query<ClaimedAgent>(CLAIM, [most, leaseMs]);
    });
  }

  async release({ agentId, fetchedUntil: known }: ClaimedAgent, fetched: Fetched): Promise<void> {
    const { state, message, fetchedUntil, dueAt, failures, credential, account } = fetched;
    const values = [agentId, state, message, fetchedUntil, dueAt, failures, credential, account, known];
    await this.database.query(RELEASE, values);
  }

  async known(agentId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ id: string }>(KNOWN, [agentId, ids]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Calls whose records are to be read again now. */
  async again(agentId: string, most: number): Promise<{ id: string; endedAt: Date; readings: number }[]> {
    return this.database.query(AGAIN, [agentId, most]);
  }

  /** Calls whose recordings are asked for now. */
  async sounds(agentId: string, most: number): Promise<AwaitedSound[]> {
    return this.database.query<AwaitedSound>(SOUNDS, [agentId, most]);
  }

  async abandonedSounds(afterMs: number, most: number): Promise<(MonitoredCalls & { readonly call: AwaitedSound })[]> {
    const rows = await this.database.query<MonitoredCalls & { call: { id: string; endedAt: string } }>(ABANDONED, [
      ...[afterMs, most],
    ]);
    return rows.map(({ call: { id, endedAt }, ...agent }) => ({ ...agent, call: { id, endedAt: new Date(endedAt) } }));
  }

  /** Extends the lease of a process. */
  async renew(agentId: string, leaseMs: number): Promise<void> {
    await this.database.query(RENEW, [agentId, leaseMs]);
  }

  /** Notes what became of a call. Nothing if its agent was erased. */
  async note(
    agentId: string,
    call: Pick<FetchedCallEntity, 'platformId' | 'endedAt'>,
    outcome: FetchedOutcome,
    {
      issue = null,
      dueAt = null,
      awaitsSound = false,
    }: Partial<Pick<FetchedCallEntity, 'issue' | 'dueAt' | 'awaitsSound'>> = {},
  ): Promise<void> {
    await this.database.query(NOTE, [agentId, call.platformId, outcome, issue, call.endedAt, dueAt, awaitsSound]);
  }

  /** @returns the number of forgotten calls, of which there may be more */
  async prune(days: number): Promise<number> {
    return (await this.database.query(PRUNE, [days])).length;
  }
}
