import { Injectable } from '@nestjs/common';
import type { Gate, Outcome } from '../../../libs/statistics/index.js';
import { Database } from '../../platform/database/database.js';
import { notErased } from '../../platform/database/erased-agents.js';
import { readPage } from '../../platform/database/page-query.js';
import { type CallEntity, OUTCOMES as OUTCOME_NAMES } from './call.entity.js';
import { MAX_PAID_ATTEMPTS, type Outcomes, type RunEntity, type RunOrigin, type RunStatus } from './run.entity.js';
import type { EvaluationSnapshot } from './run-evaluation.entity.js';
import { RUN_COLUMNS } from './runs.columns.js';

/** Channels of PostgreSQL's NOTIFY; the payload is the run's id. */
export const RUN_CANCELLED = 'run_cancelled';
export const RUN_ENDED = 'run_ended';

/** Calls of a run by outcome, and what else is known of them. */
export interface CallCounts extends Outcomes {
  /** Calls that needed a second attempt. */
  readonly retriedCalls: number;
  /** Over all attempts; null if no call is billed. */
  readonly paidSeconds: number | null;
  /** Calls for which no line of their platform was free at first. */
  readonly callsThatWaited: number;
  /** Mean score of the counted calls; null if there are none. */
  readonly meanScore: number | null;
  /** What a day of production left out; null for other runs. */
  readonly production: LeftOut | null;
}

/** Calls that a day of production did not judge, each once for every evaluation. */
export interface LeftOut {
  readonly notApplicable: number;
  readonly overLimit: number;
  readonly unjudged: number;
}

const FIND = `SELECT ${RUN_COLUMNS} FROM runs r WHERE r.id = $1 AND ${notErased('r.agent_id')}`;

const ended = (outcome: Outcome): string =>
  `count(*) FILTER (WHERE outcome = '${outcome}' AND NOT c.provisional)::int AS ${outcome}`;

/** Of the calls `c` of a run. */
const OUTCOMES = `${OUTCOME_NAMES.map(ended).join(', ')},
  count(*) FILTER (WHERE c.provisional AND c.status = 'ENDED')::int AS provisional,
  count(*) FILTER (WHERE c.status = 'CANCELLED')::int AS cancelled,
  count(*) FILTER (WHERE c.status IN ('QUEUED', 'RUNNING'))::int AS pending`;
const MEAN = `round(avg(c.score) FILTER (WHERE c.outcome IN ('passed', 'failed') AND NOT c.provisional)::numeric, 1)::float8`;
const MEAN_SCORE = `${MEAN} AS "meanScore"`;

/** The score of the run `r`: that of its counted calls; 0 without any. */
export const SCORE = `coalesce((SELECT ${MEAN} FROM calls c WHERE c.run_id = r.id), 0)`;

/** The outcomes of the run `r` as they are stored with it. */
const STORED_OUTCOMES = `(SELECT to_jsonb(o) FROM (SELECT ${OUTCOMES} FROM calls c WHERE c.run_id = r.id) o)`;

const FIND_WITH_COUNTS = `
  SELECT ${RUN_COLUMNS}, c.* FROM runs r CROSS JOIN LATERAL (
    SELECT ${OUTCOMES}, ${MEAN_SCORE},
           count(*) FILTER (WHERE c.retries > 0)::int AS "retriedCalls",
           CASE WHEN bool_or(c.bills) THEN (
             SELECT coalesce(round(sum(p.paid_seconds)::numeric, 1), 0)::float8 FROM platform_calls p
              WHERE p.run_id = r.id) END AS "paidSeconds",
           count(*) FILTER (WHERE c.waited_for_line_ms > 0 OR c.capacity_wait_since IS NOT NULL)::int AS "callsThatWaited",
           CASE WHEN r.day IS NOT NULL THEN (
             SELECT jsonb_build_object('notApplicable', coalesce(sum(e.not_applicable), 0),
                                       'overLimit', coalesce(sum(e.over_limit), 0), 'unjudged', coalesce(sum(e.unjudged), 0))
               FROM run_evaluations e WHERE e.run_id = r.id) END AS production
      FROM calls c WHERE c.run_id = r.id) c
   WHERE r.id = $1 AND ${notErased('r.agent_id')}`;

const SET_VERSION = 'UPDATE runs SET agent_version = $2 WHERE id = $1 AND agent_version IS NULL';
const HAS_ENDED = `
  SELECT NOT EXISTS (SELECT 1 FROM runs WHERE id = $1 AND status IN ('QUEUED', 'RUNNING')) AS "hasEnded"`;

/** Each snapshot is read once, not once per case. The calls of a case are adjacent. Of a day of production, the first may be missing. */
const CASES = `
  WITH planned AS MATERIALIZED (
    SELECT e.evaluation_id AS id, e.snapshot -> 'key' AS key, e.snapshot ->> 'name' AS name, e.snapshot -> 'tags' AS tags,
           e.snapshot -> 'critical' AS critical, e.snapshot ->> 'language' AS language, e.snapshot ? 'provisional' AS provisional, e.first_call, e.cases, r.repeat
      FROM run_evaluations e JOIN runs r ON r.id = e.run_id WHERE e.run_id = $1)
  SELECT p.id, p.key, p.name, p.tags, p.critical, p.language, p.provisional, coalesce(c.case_key, p.id::text) AS "caseKey", c.variables
    FROM planned p
   CROSS JOIN generate_series(p.first_call, p.first_call + (p.cases - 1) * p.repeat, p.repeat) AS first (position)
    LEFT JOIN calls c ON c.run_id = $1 AND c.position = first.position
   ORDER BY first.position`;

/** The fields of a case of the plan that results contain. */
export type CaseOfPlan = Pick<EvaluationSnapshot, 'key' | 'name' | 'tags' | 'critical'> &
  Pick<CallEntity, 'caseKey' | 'variables'> & {
    /** Id of the evaluation. */
    readonly id: string;
    /** Null in runs of earlier versions. */
    readonly language: string | null;
    readonly provisional: boolean;
  };

/** A run in a list. */
export type ListedRun = RunEntity & {
  readonly outcomes: Outcomes;
  /** Of the counted calls so far; null without one, and once it has ended. */
  readonly meanScore: number | null;
};

/** How a run ends: by its gate. */
export type RunEnd = Pick<RunEntity, 'status' | 'score' | 'exitCode'> & Pick<Gate, 'reasons' | 'warnings'>;

/** A run to start; what is missing has its default. */
export type NewRun = Pick<
  RunEntity,
  | 'id'
  | 'workspaceId'
  | 'agentId'
  | 'userId'
  | 'name'
  | 'totalCalls'
  | 'repeat'
  | 'concurrency'
  | 'minimumScore'
  | 'minimumPassRate'
  | 'allowedUncounted'
  | 'agentSnapshot'
  | 'notWorseThan'
  | 'baselineRunId'
  | 'agentVersion'
  | 'medium'
> &
  Partial<
    Pick<
      RunEntity,
      | 'derivedFrom'
      | 'derivedKind'
      | 'warnings'
      | 'isImported'
      | 'maxPaidAttempts'
      | 'agentVariables'
      | 'assistantVersion'
      | 'scheduleId'
      | 'origin'
      | 'day'
      | 'openUntil'
    >
  >;

/** Only runs with this status, of this schedule or with this origin; without it, all but those of production. */
export interface RunFilter {
  readonly status?: RunStatus;
  readonly scheduleId?: string;
  readonly origin?: RunOrigin;
}

const INSERT = `
  INSERT INTO runs AS r (id, workspace_id, agent_id, user_id, label, name, status, score, total_calls, repeat,
                         concurrency, minimum_score, minimum_pass_rate, allowed_uncounted, agent_snapshot, reasons,
                         not_worse_than, baseline_id, agent_version, medium, derived_from, derived_kind, warnings,
                         max_paid_attempts, agent_variables, assistant_version, is_imported, schedule_id, origin, day,
                         open_until)
  VALUES ($1, $2, $3, $4, 'READ', $5, CASE WHEN $26::date IS NULL THEN 'QUEUED' ELSE 'RUNNING' END, 0, $6, $7, $8, $9, $10, $11, $12, '{}', $13, $14, $15, $16, $17, $18,
          $19, $20, $21, $22, $23, $24, $25, $26, $27)
  RETURNING ${RUN_COLUMNS}`;

const NOTIFY = 'SELECT pg_notify(channel, $2) FROM unnest($1::text[]) channel';

const LIST = {
  columns: `${RUN_COLUMNS}, coalesce(r.outcomes, to_jsonb(o)) AS outcomes, s."meanScore"`,
  from: 'runs r',
  // The calls of an ended run are not read.
  joins: `CROSS JOIN LATERAL (SELECT ${OUTCOMES} FROM calls c WHERE c.run_id = r.id AND r.outcomes IS NULL) o
    CROSS JOIN LATERAL (SELECT ${MEAN_SCORE} FROM calls c WHERE c.run_id = r.id AND r.ended_at IS NULL) s`,
  where: `r.agent_id = $1 AND r.origin <> 'production'`,
  total: { list: 'runs' },
};
const LIST_BY_STATUS = {
  ...LIST,
  where: `r.agent_id = $1 AND r.origin <> 'production' AND r.status = $2`,
  total: { list: 'runs', facet: '$2' },
};

/** Those of a schedule $2, with a status $3 and an origin $4, or null. */
const LIST_OF_SOME = {
  columns: LIST.columns,
  from: LIST.from,
  joins: LIST.joins,
  where: `r.agent_id = $1 AND ($2::uuid IS NULL OR r.schedule_id = $2) AND ($3::text IS NULL OR r.status = $3)
    AND ($4::text IS NULL OR r.origin = $4)`,
};

/** Ends the run with the score so far. */
const CANCEL = `
  UPDATE runs r SET status = 'CANCELLED', exit_code = 2, ended_at = now(), updated_at = now(), score = ${SCORE}
   WHERE r.id = $1 AND r.status IN ('QUEUED', 'RUNNING') RETURNING id`;

/** After its calls: one may have ended while the run was being cancelled. */
const COUNT_CANCELLED = `UPDATE runs r SET outcomes = ${STORED_OUTCOMES} WHERE r.id = $1`;

const CANCEL_CALLS = `
  UPDATE calls SET status = 'CANCELLED', claim_id = NULL, lease_until = NULL, ended_at = now(), updated_at = now(),
         changed_in = pg_current_xact_id()::text::bigint
   WHERE id IN (SELECT id FROM calls WHERE run_id = $1 AND status IN ('QUEUED', 'RUNNING') ORDER BY id FOR UPDATE)`;

/** An open run whose calls have all ended; that of a day when no more are expected, and no longer than their sound may be. */
const LOCK_OVER = `
  SELECT ${RUN_COLUMNS} FROM runs r
   WHERE r.id = $1 AND r.status IN ('QUEUED', 'RUNNING') AND coalesce(r.open_until, '-infinity') < now()
     AND (r.open_until < now() - interval '6 hours'
          OR NOT EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.id AND c.status IN ('QUEUED', 'RUNNING')))
     FOR UPDATE`;

const END = `
  UPDATE runs r SET status = $2, score = $3, exit_code = $4, reasons = $5, warnings = r.warnings || $6::text[],
         outcomes = ${STORED_OUTCOMES}, ended_at = clock_timestamp(), updated_at = clock_timestamp()
   WHERE r.id = $1 AND r.status IN ('QUEUED', 'RUNNING') RETURNING ${RUN_COLUMNS}`;

/** After calls of it were added or deleted. The outcome of an open run is decided when it ends. */
const RECOUNT = `
  UPDATE runs r SET total_calls = (SELECT count(*) FROM calls c WHERE c.run_id = r.id), updated_at = now(),
         outcomes = CASE WHEN r.ended_at IS NOT NULL THEN ${STORED_OUTCOMES} END,
         score = CASE WHEN r.ended_at IS NULL THEN r.score ELSE ${SCORE} END
   WHERE r.id = $1`;

/** What only the import needed is not kept. */
const CLOSE_IMPORT = `
  UPDATE call_imports i SET transcript = NULL, tool_calls = NULL, decided = NULL, bytes = 0
   WHERE run_id = $1 AND NOT EXISTS (SELECT FROM calls c WHERE c.id = i.call_id AND c.status = 'RUNNING')`;

/** SQL for reading and cancelling runs. */
@Injectable()
export class RunsRepository {
  constructor(private readonly database: Database) {}

  async find(id: string): Promise<RunEntity | undefined> {
    const [row] = await this.database.query<RunEntity>(FIND, [id]);
    return row;
  }

  async findWithCounts(id: string): Promise<(RunEntity & CallCounts) | undefined> {
    const [row] = await this.database.query<RunEntity & CallCounts>(FIND_WITH_COUNTS, [id]);
    return row;
  }

  async page(
    agentId: string,
    { status, scheduleId, origin }: RunFilter,
    page: { limit: number; offset: number },
  ): Promise<{ rows: ListedRun[]; total: number }> {
    if (scheduleId !== undefined || origin !== undefined) {
      const values = [agentId, scheduleId ?? null, status ?? null, origin ?? null];
      return readPage<ListedRun>(this.database, LIST_OF_SOME, values, page);
    }
    return status === undefined
      ? readPage<ListedRun>(this.database, LIST, [agentId], page)
      : readPage<ListedRun>(this.database, LIST_BY_STATUS, [agentId, status], page);
  }

  async insert(run: NewRun): Promise<RunEntity> {
    const values = [
      run.id,
      run.workspaceId,
      run.agentId,
      run.userId,
      run.name,
      run.totalCalls,
      run.repeat,
      run.concurrency,
      run.minimumScore,
      run.minimumPassRate,
      run.allowedUncounted,
      run.agentSnapshot,
      run.notWorseThan,
      run.baselineRunId,
      run.agentVersion,
      run.medium,
      run.derivedFrom ?? null,
      run.derivedKind ?? null,
      run.warnings ?? [],
      run.maxPaidAttempts ?? MAX_PAID_ATTEMPTS,
      JSON.stringify(run.agentVariables ?? {}),
      run.assistantVersion ?? null,
      run.isImported ?? false,
      run.scheduleId ?? null,
      run.origin ?? (run.isImported ? 'import' : 'test'),
      run.day ?? null,
      run.openUntil ?? null,
    ];
    const [row] = await this.database.query<RunEntity>(INSERT, values);
    return row!;
  }

  /** Whether the run has ended, or does not exist. */
  async hasEnded(id: string): Promise<boolean> {
    const [row] = await this.database.query<{ hasEnded: boolean }>(HAS_ENDED, [id]);
    return row?.hasEnded ?? true;
  }

  /** The cases of a run, in plan order. */
  async cases(id: string): Promise<CaseOfPlan[]> {
    return this.database.query(CASES, [id]);
  }

  /** Notifies every process of the run's end once the caller's transaction is committed. */
  async notifyEnded(id: string, { isCancelled = false } = {}): Promise<void> {
    await this.database.query(NOTIFY, [isCancelled ? [RUN_ENDED, RUN_CANCELLED] : [RUN_ENDED], id]);
  }

  /** The run of an imported call has ended. */
  async closeImport(id: string): Promise<void> {
    await this.database.query(CLOSE_IMPORT, [id]);
  }

  async setAgentVersion(id: string, version: string): Promise<void> {
    await this.database.query(SET_VERSION, [id, version]);
  }

  /** Locks an open run whose calls have all ended. @returns undefined if it has ended already or has calls left */
  async lockOver(id: string): Promise<RunEntity | undefined> {
    const [run] = await this.database.query<RunEntity>(LOCK_OVER, [id]);
    return run;
  }

  /** Counts the calls of a run after some were added or deleted. */
  async recount(id: string): Promise<void> {
    await this.database.query(RECOUNT, [id]);
  }

  /** @returns the ended run; undefined if it had ended already */
  async end(id: string, { status, score, exitCode, reasons, warnings }: RunEnd): Promise<RunEntity | undefined> {
    const [run] = await this.database.query<RunEntity>(END, [id, status, score, exitCode, reasons, warnings]);
    return run;
  }

  /** Call it in a transaction. @returns false if the run had ended already */
  async cancel({ id }: Pick<RunEntity, 'id'>): Promise<boolean> {
    // The run first, in the same order as finishing it. Claims skip what is locked.
    if ((await this.database.query(CANCEL, [id])).length === 0) return false;
    await this.database.query(CANCEL_CALLS, [id]);
    await this.database.query(COUNT_CANCELLED, [id]);
    return true;
  }
}
