import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { notErased } from '../../platform/database/erased-agents.js';
import { readPage } from '../../platform/database/page-query.js';
import type { ScheduleEntity } from './schedule.entity.js';
import type { ScheduleSlotEntity } from './schedule-slot.entity.js';

/** A schedule with what its runs depend on. */
export type ScheduleRow = ScheduleEntity & {
  readonly lastRunId: string | null;
  readonly agentName: string | null;
  readonly isAgentDeleted: boolean;
  /** Whether the user that created it is still one of the workspace. */
  readonly hasUser: boolean;
};

export type NewSlot = Omit<ScheduleSlotEntity, 'id'>;

const COLUMNS = `s.id, s.workspace_id AS "workspaceId", s.agent_id AS "agentId", s.created_by_user_id AS "createdByUserId",
  s.name, s.cron, s.time_zone AS "timeZone", s.run, s.enabled, s.reset_on_version AS "resetOnVersion",
  s.max_paid_seconds_per_day AS "maxPaidSecondsPerDay", s.heartbeat_url AS "heartbeatUrl", s.heartbeat_error AS "heartbeatError", s.due_at AS "dueAt",
  s.starts_at AS "startsAt", s.not_run AS "notRun", s.not_run_since AS "notRunSince", s.paid_on AS "paidOn",
  s.paid_seconds AS "paidSeconds", s.created_at AS "createdAt", s.updated_at AS "updatedAt",
  a.name AS "agentName", a.deleted_at IS NOT NULL AS "isAgentDeleted",
  EXISTS (SELECT FROM users u WHERE u.id = s.created_by_user_id AND u.workspace_id = s.workspace_id) AS "hasUser",
  (SELECT r.id FROM runs r WHERE r.schedule_id = s.id ORDER BY r.created_at DESC, r.id DESC LIMIT 1) AS "lastRunId"`;
const OF_AGENT = 'JOIN agents a ON a.id = s.agent_id';

const FIND = `SELECT ${COLUMNS} FROM schedules s ${OF_AGENT} WHERE s.id = $1 AND ${notErased('s.agent_id')}`;
const LOCK = `${FIND} FOR UPDATE OF s`;

/** $1: now; $2: schedules that failed in this sweep. Workers at the same time take different schedules. */
const LOCK_DUE = `
  SELECT ${COLUMNS} FROM schedules s ${OF_AGENT} WHERE s.starts_at <= $1 AND s.id <> ALL($2::uuid[])
   ORDER BY s.starts_at LIMIT 1 FOR UPDATE OF s SKIP LOCKED`;

const LIST = { columns: COLUMNS, from: 'schedules s', joins: OF_AGENT, where: 's.agent_id = $1' };

/** Sorted by due time. */
const SLOTS = {
  columns: `s.id, s.outcome, s.from_at AS "fromAt", s.to_at AS "toAt", s.count, s.run_id AS "runId", s.issues,
    s.created_at AS "createdAt"`,
  from: '(SELECT *, to_at AS created_at FROM schedule_slots) s',
  where: 's.schedule_id = $1',
};

const LOCK_WORKSPACE = `SELECT pg_advisory_xact_lock(hashtextextended('schedules:workspace:' || $1, 0))`;
const LAST_DUE = 'SELECT max(to_at) AS "at" FROM schedule_slots WHERE schedule_id = $1';
const HAS_OPEN_RUN = `
  SELECT EXISTS (SELECT FROM runs WHERE schedule_id = $1 AND status IN ('QUEUED', 'RUNNING')) AS "hasOpenRun"`;

/** Extends the newest row if that has the same outcome. */
const EXTEND = `
  UPDATE schedule_slots SET to_at = $3, count = count + $4 WHERE outcome = $2 AND id = (
    SELECT id FROM schedule_slots WHERE schedule_id = $1 ORDER BY to_at DESC LIMIT 1) RETURNING id`;
const INSERT_SLOT = `
  INSERT INTO schedule_slots (id, schedule_id, outcome, from_at, to_at, count, run_id, issues)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;

const ADVANCE = `
  UPDATE schedules SET due_at = $2, starts_at = $3, not_run = $4, not_run_since = $5, paid_on = $6, paid_seconds = $7
   WHERE id = $1`;

/** A run without a version of its agent, which is called; all of its calls use one protocol. */
const UNVERSIONED = `
  SELECT r.agent_id AS "agentId", r.workspace_id AS "workspaceId", r.agent_snapshot ->> 'assistantId' AS "assistantId",
         r.assistant_version AS "assistantVersion", c.protocol
    FROM runs r CROSS JOIN LATERAL (SELECT protocol FROM calls WHERE run_id = r.id AND protocol IS NOT NULL LIMIT 1) c
   WHERE r.id = $1 AND r.agent_version IS NULL`;

/** Not of an address that has been replaced since. */
const HEARTBEAT = `
  UPDATE schedules SET heartbeat_error = $3
   WHERE id = $1 AND heartbeat_url = $2 AND heartbeat_error IS DISTINCT FROM $3`;

const PRUNE = `
  DELETE FROM schedule_slots WHERE id IN (
    SELECT id FROM schedule_slots WHERE to_at < now() - $1 * interval '1 day' ORDER BY to_at LIMIT 1000) RETURNING 1`;

/** SQL for schedules and their slots. */
@Injectable()
export class SchedulesRepository {
  constructor(private readonly database: Database) {}

  /** A schedule of any workspace. @param lock locks it until the transaction ends */
  async find(id: string, { lock = false } = {}): Promise<ScheduleRow | undefined> {
    const [row] = await this.database.query<ScheduleRow>(lock ? LOCK : FIND, [id]);
    return row;
  }

  /** Locks a schedule that is due, until the transaction ends. @param except ids of others */
  async lockDue(now: number, except: readonly string[]): Promise<ScheduleRow | undefined> {
    const [row] = await this.database.query<ScheduleRow>(LOCK_DUE, [new Date(now), except]);
    return row;
  }

  page(agentId: string, page: { limit: number; offset: number }) {
    return readPage<ScheduleRow>(this.database, LIST, [agentId], page);
  }

  slots(scheduleId: string, page: { limit: number; offset: number }) {
    return readPage<ScheduleSlotEntity>(this.database, SLOTS, [scheduleId], page);
  }

  /** Serialises what the number of schedules of a workspace decides. */
  async lockWorkspace(workspaceId: string): Promise<void> {
    await this.database.query(LOCK_WORKSPACE, [workspaceId]);
  }

  /** The last due time that has a slot. */
  async lastDue(scheduleId: string): Promise<Date | null> {
    const [row] = await this.database.query<{ at: Date | null }>(LAST_DUE, [scheduleId]);
    return row?.at ?? null;
  }

  /** Whether a run of the schedule is in progress. */
  async hasOpenRun(scheduleId: string): Promise<boolean> {
    const [row] = await this.database.query<{ hasOpenRun: boolean }>(HAS_OPEN_RUN, [scheduleId]);
    return row?.hasOpenRun ?? false;
  }

  /** Writes what became of due times; those that were missed or paused in a row are one row. */
  async record({ scheduleId, outcome, fromAt, toAt, count, runId, issues }: NewSlot): Promise<void> {
    const isRow = outcome === 'missed' || outcome === 'disabled';
    if (isRow && (await this.database.query(EXTEND, [scheduleId, outcome, toAt, count])).length > 0) return;
    await this.database.query(INSERT_SLOT, [randomUUID(), scheduleId, outcome, fromAt, toAt, count, runId, issues]);
  }

  /** Stores when a locked schedule is next due, and what it counts. */
  async advance(row: ScheduleEntity): Promise<void> {
    const { id, dueAt, startsAt, notRun, notRunSince, paidOn, paidSeconds } = row;
    await this.database.query(ADVANCE, [id, dueAt, startsAt, notRun, notRunSince, paidOn, paidSeconds]);
  }

  async unversioned(runId: string) {
    type Run = Record<'agentId' | 'workspaceId' | 'assistantId' | 'protocol', string>;
    const [row] = await this.database.query<Run & { assistantVersion: string | null }>(UNVERSIONED, [runId]);
    return row;
  }

  /** Stores what became of a heartbeat. @param error null if the monitor accepted it */
  async heartbeat(id: string, url: string, error: string | null): Promise<void> {
    await this.database.query(HEARTBEAT, [id, url, error]);
  }

  /** Deletes a batch of slots that are older than this many days. @returns their number */
  async prune(days: number): Promise<number> {
    return (await this.database.query(PRUNE, [days])).length;
  }
}
