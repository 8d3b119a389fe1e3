import { Injectable } from '@nestjs/common';
import type {
  ProductionCase,
  ReportedAlarm,
  ReportedCaseResult,
  ReportedLook,
  ReportedProduction,
  ReportedProductionCall,
  WatchedSchedule,
} from '../../../libs/run-report/index.js';
import { Database } from '../../platform/database/database.js';
import { IS_OF_TESTS } from '../case-history/case-history.service.js';
import type { CaseResultEntity } from '../case-history/case-result.entity.js';
import type { RunEntity } from '../runs/run.entity.js';

/**
 * $1: agent; $2: days; $3: most runs. Newest first. Of the other runs in the period, nothing but their number is computed.
 * Percentiles are computed here, so that more calls make no larger result.
 */
const LOOKS = `
  WITH newest AS MATERIALIZED (
    SELECT h.run_id, max(h.ended_at) AS ended_at, count(*) OVER ()::int AS total
      FROM case_results h WHERE ${IS_OF_TESTS} AND h.agent_id = $1 AND h.ended_at >= now() - $2 * interval '24 hours'
     GROUP BY h.run_id ORDER BY 2 DESC, h.run_id LIMIT $3)
  SELECT k.run_id AS "runId", k.ended_at AS "endedAt", k.total, s.*, l.ranks[1] AS p50, l.ranks[2] AS p95,
         r.name, r.id IS NOT NULL AS "isStored"
    FROM newest k LEFT JOIN runs r ON r.id = k.run_id
   CROSS JOIN LATERAL (
     SELECT min(h.agent_version) AS "agentVersion", min(h.schedule_id::text) AS "scheduleId",
            min(h.tester::text)::jsonb AS tester, sum(h.passed)::int AS passed, sum(h.failed)::int AS failed,
            sum(h.invalid)::int AS invalid, sum(h.error)::int AS error
       FROM case_results h WHERE h.run_id = k.run_id) s
   CROSS JOIN LATERAL (
     SELECT percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY ms) AS ranks
       FROM case_results h CROSS JOIN unnest(h.latencies) u (ms) WHERE h.run_id = k.run_id) l
   ORDER BY k.ended_at DESC, k.run_id`;

/** $1: agent; $2: days. The stream of a result is an enabled schedule; null: all other runs. */
const IN_PERIOD = `${IS_OF_TESTS} AND h.agent_id = $1 AND h.ended_at >= now() - $2 * interval '24 hours'`;
const STREAM = 'LEFT JOIN schedules s ON s.id = h.schedule_id AND s.enabled';

const RESULT = `s.id AS "scheduleId", h.run_id AS "runId", h.case_key AS "caseKey", h.ended_at AS "endedAt", h.passed,
  h.failed, h.passed + h.failed AS counted, h.position, h.repetition`;

/** $3: most runs of a stream; $4: of all streams, beside three of each. Newest first. */
const RESULTS = `
  WITH ended AS (
    SELECT h.run_id, s.id AS stream_id, max(h.ended_at) AS ended_at
      FROM case_results h ${STREAM} WHERE ${IN_PERIOD} GROUP BY 1, 2),
  placed AS MATERIALIZED (
    SELECT run_id, row_number() OVER (PARTITION BY stream_id ORDER BY ended_at DESC, run_id) AS place FROM ended)
  SELECT ${RESULT}, h.name, s.name AS "scheduleName", r.status, r.exit_code AS "exitCode"
    FROM placed p JOIN case_results h ON h.run_id = p.run_id ${STREAM} LEFT JOIN runs r ON r.id = h.run_id
   WHERE p.place <= least($3, greatest(3, $4 / (SELECT count(*) FROM placed WHERE place = 1)))
   ORDER BY h.ended_at DESC, h.run_id, h.position`;

/** For each red case of a stream the first result after its last green one; results without a counted call are neither. */
const RED_SINCE = `
  WITH red AS (
    SELECT h.case_key, s.id AS stream_id, max(h.ended_at) FILTER (WHERE h.failed = 0) AS green_at
      FROM case_results h ${STREAM} WHERE ${IN_PERIOD} AND h.passed + h.failed > 0 GROUP BY 1, 2
    HAVING max(h.ended_at) FILTER (WHERE h.failed > 0)
             > coalesce(max(h.ended_at) FILTER (WHERE h.failed = 0), '-infinity'))
  SELECT DISTINCT ON (s.id, h.case_key) ${RESULT}, d.green_at IS NULL AS "isRedThroughout",
         EXISTS (SELECT FROM runs r WHERE r.id = h.run_id) AS "isStored"
    FROM red d JOIN case_results h ON h.case_key = d.case_key ${STREAM}
   WHERE ${IN_PERIOD} AND h.failed > 0 AND h.ended_at > coalesce(d.green_at, '-infinity')
     AND s.id IS NOT DISTINCT FROM d.stream_id
   ORDER BY s.id, h.case_key, h.ended_at, h.run_id`;

const NEXT_RUN = `SELECT min(due_at) AS at FROM schedules WHERE agent_id = $1 AND enabled`;

/** $1: agent; $2: days. Only alarms about one case name it. */
const ALARMS = `
  SELECT a.schedule_name AS "scheduleName", a.measure, CASE WHEN a.case_key IS NOT NULL THEN a.cases -> 0 ->> 'name' END AS "caseName",
         a.since, a.status = 'open' AS "isOpen"
    FROM alarms a WHERE a.agent_id = $1 AND (a.status = 'open' OR a.found_at >= now() - $2 * interval '24 hours')
   ORDER BY a.found_at DESC, a.id LIMIT 100`;

/** What the newest look of each enabled schedule, and of production calls, says. */
const SCHEDULES = `
  SELECT s.name, s.unit, l.learning, l.findable
    FROM (SELECT id, name, 'run' AS unit, created_at FROM schedules WHERE agent_id = $1 AND enabled
           UNION ALL SELECT $1, 'Production', 'day', NULL) s
   CROSS JOIN LATERAL (
    SELECT k.learning, k.findable FROM looks k WHERE k.schedule_id = s.id ORDER BY k.ended_at DESC LIMIT 1) l
   ORDER BY s.created_at, s.id`;

/** $1: agent; $2: days before today. */
const IN_DAYS = `r.agent_id = $1 AND r.day > (now() AT TIME ZONE 'UTC')::date - $2::int`;
const PRODUCTION_DAYS = `
  SELECT count(*)::int AS days, min(r.day)::text AS "from", max(r.day)::text AS "to" FROM runs r WHERE ${IN_DAYS}`;

/** Calls are read of days that have not ended; \`case_results\` has the counts of the others. */
const PRODUCTION_CASES = `
  SELECT (array_agg(e.snapshot ->> 'name' ORDER BY r.day DESC))[1] AS name,
         sum(coalesce(h.passed, 0) + c.passed)::int AS passed, sum(coalesce(h.failed, 0) + c.failed)::int AS failed,
         sum(coalesce(h.other, 0) + c.other)::int AS "notJudged", sum(e.not_applicable)::int AS "notApplicable",
         sum(e.over_limit)::int AS "overLimit"
    FROM runs r JOIN run_evaluations e ON e.run_id = r.id
   CROSS JOIN LATERAL (
     SELECT sum(h.passed) AS passed, sum(h.failed) AS failed, sum(h.invalid + h.error) AS other
       FROM case_results h WHERE h.run_id = r.id AND split_part(h.case_key, ':', 1) = e.evaluation_id::text) h
   CROSS JOIN LATERAL (
     SELECT count(*) FILTER (WHERE outcome = 'passed') AS passed, count(*) FILTER (WHERE outcome = 'failed') AS failed,
            count(*) FILTER (WHERE outcome IN ('invalid', 'error')) AS other
       FROM calls c WHERE r.ended_at IS NULL AND c.run_id = r.id AND c.evaluation_id = e.evaluation_id) c
   WHERE ${IN_DAYS} GROUP BY e.evaluation_id ORDER BY min(e.position), e.evaluation_id`;

/** $3: most calls. */
const PRODUCTION_FAILED = `
  SELECT c.id AS "callId", i.external_id AS "externalId", r.id AS "runId", e.snapshot ->> 'name' AS name, c.started_at AS "startedAt", e.position, c.repetition,
         c.reason
    FROM runs r CROSS JOIN LATERAL (
     SELECT * FROM calls c WHERE c.run_id = r.id AND c.outcome = 'failed' ORDER BY c.started_at DESC, c.id LIMIT $3) c
    JOIN run_evaluations e ON e.run_id = r.id AND e.evaluation_id = c.evaluation_id
    LEFT JOIN call_imports i ON i.call_id = c.id
   WHERE ${IN_DAYS} ORDER BY r.day DESC, c.started_at DESC, c.id LIMIT $3`;

/** Whether the run of an agent ended within the days $3 before now. Words of production calls are in no report of a link. */
const IS_IN_PERIOD = `
  SELECT FROM runs WHERE id = $1 AND agent_id = $2 AND origin <> 'production' AND ended_at >= now() - $3 * interval '24 hours'`;

const RUN_OF_CALL = `SELECT run_id AS "runId" FROM calls WHERE id = $1`;

/** `total`: ended runs in the period. */
export type LookRow = Omit<ReportedLook, 'endedAt'> & {
  readonly endedAt: Date;
  readonly isStored: boolean;
  readonly total: number;
};

/** `scheduleId`: the stream. */
export type ResultRow = Omit<ReportedCaseResult, 'endedAt' | 'state'> &
  Pick<CaseResultEntity, 'scheduleId' | 'caseKey' | 'endedAt' | 'failed'>;

export type RedRow = ResultRow & { readonly isRedThroughout: boolean; readonly isStored: boolean };

/** What comes from the run is null once it was deleted. */
export type StreamRow = ResultRow &
  Pick<CaseResultEntity, 'name'> &
  Pick<RunEntity, 'exitCode'> & { readonly scheduleName: string | null; readonly status: string | null };

/** SQL for the page of an agent, which reads no result of a call, and for what its links lead to. */
@Injectable()
export class AgentPagesRepository {
  constructor(private readonly database: Database) {}

  async looks(agentId: string, days: number, limit: number): Promise<LookRow[]> {
    return this.database.query(LOOKS, [agentId, days, limit]);
  }

  async results(agentId: string, days: number, most: { ofStream: number; ofAll: number }): Promise<StreamRow[]> {
    return this.database.query(RESULTS, [agentId, days, most.ofStream, most.ofAll]);
  }

  async redSince(agentId: string, days: number): Promise<RedRow[]> {
    return this.database.query(RED_SINCE, [agentId, days]);
  }

  /** When the next run is due; null without an enabled schedule. */
  async nextRunAt(agentId: string): Promise<Date | null> {
    const [row] = await this.database.query<{ at: Date | null }>(NEXT_RUN, [agentId]);
    return row?.at ?? null;
  }

  async alarms(agentId: string, days: number): Promise<ReportedAlarm[]> {
    const rows = await this.database.query<Omit<ReportedAlarm, 'since'> & { since: Date }>(ALARMS, [agentId, days]);
    return rows.map((row) => ({ ...row, since: row.since.toISOString() }));
  }

  schedules(agentId: string): Promise<WatchedSchedule[]> {
    return this.database.query(SCHEDULES, [agentId]);
  }

  /** @returns undefined without a day of production calls in the period */
  async productionDays(
    agentId: string,
    days: number,
  ): Promise<Pick<ReportedProduction, 'days' | 'from' | 'to'> | undefined> {
    type Row = Pick<ReportedProduction, 'days' | 'from' | 'to'>;
    const [row] = await this.database.query<Row>(PRODUCTION_DAYS, [agentId, days]);
    return row?.days === 0 ? undefined : row;
  }

  productionCases(agentId: string, days: number): Promise<ProductionCase[]> {
    return this.database.query(PRODUCTION_CASES, [agentId, days]);
  }

  /** Newest first. */
  async failedProduction(agentId: string, days: number, limit: number): Promise<ReportedProductionCall[]> {
    type Row = Omit<ReportedProductionCall, 'startedAt'> & { readonly startedAt: Date };
    const rows = await this.database.query<Row>(PRODUCTION_FAILED, [agentId, days, limit]);
    return rows.map((row) => ({ ...row, startedAt: row.startedAt.toISOString() }));
  }

  async runOfCall(callId: string): Promise<string | undefined> {
    return (await this.database.query<{ runId: string }>(RUN_OF_CALL, [callId]))[0]?.runId;
  }

  async isInPeriod(runId: string, agentId: string, days: number): Promise<boolean> {
    return (await this.database.query(IS_IN_PERIOD, [runId, agentId, days])).length > 0;
  }
}
