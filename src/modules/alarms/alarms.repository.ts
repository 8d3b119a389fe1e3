import { Injectable } from '@nestjs/common';
import { NAMED_CASES } from '../../../libs/statistics/index.js';
import { Database } from '../../platform/database/database.js';
import type { CaseResultEntity } from '../case-history/case-result.entity.js';
import type { ScheduleEntity } from '../schedules/schedule.entity.js';
import type { AlarmEntity } from './alarm.entity.js';
import type { AlarmTotals } from './alarm-figures.js';
import type { LookEntity } from './look.entity.js';

/** Looks that are read: those that the rule uses, and some of falls that are over. */
const MAX_LOOKS = 260;
/** The fewest that alarms are possible with, in every window. */
const MIN_LOOKS = 40;
/** Results of cases that are read at most, about 200 MB; with more calls, fewer looks find the same falls. */
const MAX_RESULTS = 400_000;
/** As long as the results of cases. */
const RETENTION_DAYS = 400;
const MAX_PRUNED = 1_000;

const LOCK_SCHEDULE = `SELECT pg_advisory_xact_lock(hashtextextended('looks:' || $1, 0))`;

const SCHEDULE = `
  SELECT s.id, s.name, s.workspace_id AS "workspaceId", s.agent_id AS "agentId", s.reset_on_version AS "resetOnVersion",
         a.name AS "agentName"
    FROM (SELECT id, name, workspace_id, agent_id, reset_on_version FROM schedules WHERE id = $1
           UNION ALL SELECT id, 'Production', workspace_id, id, false FROM agents WHERE id = $1) s
    JOIN agents a ON a.id = s.agent_id WHERE a.deleted_at IS NULL`;

/** Ended runs after $2 that belong to no look yet, the newest last. A production call on which nothing was decided is not the tester's fault. */
const PENDING = `
  SELECT h.run_id AS "runId", h.ended_at AS "endedAt", max(h.agent_version) AS "agentVersion",
         sum(h.passed + h.failed)::int AS counted,
         sum(CASE WHEN h.schedule_id = h.agent_id THEN 0 ELSE h.invalid END + h.error)::int AS "notJudged", count(*)::int AS results
    FROM case_results h
   WHERE h.schedule_id = $1 AND h.ended_at > $2
     AND NOT EXISTS (SELECT FROM looks l WHERE l.schedule_id = $1 AND l.ended_at >= h.ended_at AND h.run_id = ANY (l.run_ids))
   GROUP BY h.run_id, h.ended_at ORDER BY h.ended_at, h.run_id`;

const NEWEST = `
  SELECT ended_at AS "endedAt", is_unavailable AS "isUnavailable",
         (SELECT count(*)::int FROM looks l WHERE l.schedule_id = $1 AND l.ended_at > $2::timestamptz - interval '167 hours') AS "inWeek"
    FROM looks WHERE schedule_id = $1 ORDER BY ended_at DESC LIMIT 1`;

const LOOKS = `
  SELECT id, ended_at AS "endedAt", agent_version AS "agentVersion", run_ids AS "runIds"
    FROM looks WHERE schedule_id = $1 ORDER BY ended_at DESC LIMIT $2`;

/** Results of cases by look, the oldest first. */
const ENTRIES = `
  SELECT l.id AS "lookId", h.case_key AS "caseKey", h.name, md5(h.definition_hash || h.tester::text) AS hash,
         h.passed, h.passed + h.failed AS counted, h.latencies
    FROM (SELECT * FROM looks WHERE schedule_id = $1 ORDER BY ended_at DESC LIMIT $2) l
    JOIN case_results h ON h.run_id = ANY (l.run_ids)
   ORDER BY l.ended_at, array_position(l.run_ids, h.run_id)`;

const HEAD = `a.id, a.workspace_id AS "workspaceId", a.agent_id AS "agentId", a.schedule_id AS "scheduleId",
  a.schedule_name AS "scheduleName", a.measure, a.case_key AS "caseKey", a.looks, a.p_value AS "pValue", a.since,
  a.since_run_id AS "sinceRunId", a.found_at AS "foundAt", a.status, a.over_from AS "overFrom", a.ended_at AS "endedAt",
  a.sent_at AS "sentAt", a.reminded_at AS "remindedAt", a.created_at AS "createdAt"`;
const COLUMNS = `${HEAD}, a.cases`;

const sumOf = (side: keyof AlarmTotals, count: string) => `'${count}', sum((one -> '${side}' -> '${count}')::numeric)`;
const totalOf = (side: keyof AlarmTotals) =>
  `'${side}', jsonb_build_object(${sumOf(side, 'counted')}, ${sumOf(side, 'marked')})`;

/** Open alarms first. An alarm can have thousands of cases: only those that are shown leave the database. */
const PAGE = `
  SELECT ${HEAD}, jsonb_path_query_array(a.cases, '$[0 to ${NAMED_CASES - 1}]') AS cases,
         (SELECT jsonb_build_object(${totalOf('window')}, ${totalOf('reference')})
            FROM jsonb_array_elements(a.cases) one) AS totals, count(*) OVER ()::int AS total
    FROM alarms a WHERE a.agent_id = $1
   ORDER BY a.status = 'open' DESC, a.created_at DESC, a.id DESC LIMIT $2 OFFSET $3`;

const COUNT = 'SELECT count(*)::int AS total FROM alarms WHERE agent_id = $1';

const LOCK_ALARM = `SELECT ${COLUMNS} FROM alarms a WHERE a.id = $1 FOR UPDATE`;

const OF_SCHEDULE = `
  SELECT ${COLUMNS} FROM alarms a
   WHERE a.schedule_id = $1 AND (a.status = 'open' OR a.found_at > now() - interval '${RETENTION_DAYS} days')
   ORDER BY a.found_at FOR UPDATE`;

const WAITING = `
  SELECT a.id, a.sent_at AS "sentAt" FROM alarms a
   WHERE a.agent_id = $1 AND a.status = 'open' AND a.reminded_at IS NULL FOR UPDATE`;

const MUTE = `
  INSERT INTO alarm_mutes (agent_id, until, reason) VALUES ($1, $2, $3)
  ON CONFLICT (agent_id) DO UPDATE SET until = excluded.until, reason = excluded.reason, created_at = now()`;

const MUTED_UNTIL = 'SELECT until FROM alarm_mutes WHERE agent_id = $1 AND until > $2';

const DELETE_EXPIRED = (table: string, condition: string) => `
  DELETE FROM ${table} WHERE id = ANY (ARRAY(
    SELECT id FROM ${table} WHERE created_at < now() - interval '${RETENTION_DAYS} days' AND ${condition}
     LIMIT ${MAX_PRUNED} FOR UPDATE SKIP LOCKED)) RETURNING id`;

export type WatchedSchedule = Pick<ScheduleEntity, 'id' | 'name' | 'workspaceId' | 'agentId' | 'resetOnVersion'> & {
  readonly agentName: string | null;
};

export type PendingRun = Pick<CaseResultEntity, 'runId' | 'endedAt' | 'agentVersion'> & {
  readonly counted: number;
  readonly notJudged: number;
  /** Cases of the run. */
  readonly results: number;
};

export type LookEntry = Pick<CaseResultEntity, 'caseKey' | 'name' | 'passed' | 'latencies'> & {
  readonly lookId: string;
  /** Of the case's definition and its tester: only equal ones are compared. */
  readonly hash: string;
  readonly counted: number;
};

/** How many looks to read. @param results those of cases in the newest look */
export const looksToRead = (results: number): number =>
  Math.max(MIN_LOOKS, Math.min(MAX_LOOKS, Math.floor(MAX_RESULTS / Math.max(1, results))));

export type LookHead = Pick<LookEntity, 'id' | 'endedAt' | 'agentVersion' | 'runIds'>;

/** `cases` has the worst ones only. */
export type ListedAlarm = AlarmEntity & { readonly totals: AlarmTotals };

/** SQL for looks and alarms. The days of production calls of an agent are read like a schedule with the agent's id. */
@Injectable()
export class AlarmsRepository {
  constructor(private readonly database: Database) {}

  /** Serialises the looks of a schedule until the transaction ends. @returns undefined if it, or its agent, was deleted */
  async lockSchedule(id: string): Promise<WatchedSchedule | undefined> {
    await this.database.query(LOCK_SCHEDULE, [id]);
    return (await this.database.query<WatchedSchedule>(SCHEDULE, [id]))[0];
  }

  /** The newest look of a schedule. @param now for `inWeek`, its looks in the week before */
  async newest(scheduleId: string, now: Date) {
    type Look = Pick<LookEntity, 'endedAt' | 'isUnavailable'> & { readonly inWeek: number };
    return (await this.database.query<Look>(NEWEST, [scheduleId, now])).at(0);
  }

  pending(scheduleId: string, after: Date): Promise<PendingRun[]> {
    return this.database.query(PENDING, [scheduleId, after]);
  }

  /** The newest looks, the oldest of them first. */
  async looks(scheduleId: string, limit: number): Promise<LookHead[]> {
    return (await this.database.query<LookHead>(LOOKS, [scheduleId, limit])).reverse();
  }

  entries(scheduleId: string, limit: number): Promise<LookEntry[]> {
    return this.database.query(ENTRIES, [scheduleId, limit]);
  }

  /** Alarms of a schedule, locked until the transaction ends. */
  ofSchedule(scheduleId: string): Promise<AlarmEntity[]> {
    return this.database.query(OF_SCHEDULE, [scheduleId]);
  }

  async page(agentId: string, { limit, offset }: { limit: number; offset: number }) {
    const rows = await this.database.query<ListedAlarm & { total: number }>(PAGE, [agentId, limit, offset]);
    const [count] = rows.length > 0 ? rows : await this.database.query<{ total: number }>(COUNT, [agentId]);
    return { rows, total: count?.total ?? 0 };
  }

  async lockAlarm(id: string): Promise<AlarmEntity | undefined> {
    return (await this.database.query<AlarmEntity>(LOCK_ALARM, [id]))[0];
  }

  /** Open alarms that have not been sent, or not for the second time. */
  waiting(agentId: string): Promise<Pick<AlarmEntity, 'id' | 'sentAt'>[]> {
    return this.database.query(WAITING, [agentId]);
  }

  async mute(agentId: string, until: Date, reason: string): Promise<void> {
    await this.database.query(MUTE, [agentId, until, reason]);
  }

  async nameOfAgent(agentId: string): Promise<string | null> {
    const statement = 'SELECT name FROM agents WHERE id = $1';
    return (await this.database.query<{ name: string | null }>(statement, [agentId]))[0]?.name ?? null;
  }

  /** Until when the alarms of an agent are muted; undefined if they are not. */
  async mutedUntil(agentId: string, now: Date): Promise<Date | undefined> {
    return (await this.database.query<{ until: Date }>(MUTED_UNTIL, [agentId, now]))[0]?.until;
  }

  /** Deletes a batch of old looks and alarms. @returns their number */
  async prune(): Promise<number> {
    const looks = await this.database.query(DELETE_EXPIRED('looks', 'true'));
    const alarms = await this.database.query(DELETE_EXPIRED('alarms', `status <> 'open'`));
    return looks.length + alarms.length;
  }
}
