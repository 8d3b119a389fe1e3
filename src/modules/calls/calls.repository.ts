import { Injectable } from '@nestjs/common';
import type { VariablesRow } from '../../../libs/evaluation-definition/index.js';
import type { CallResult } from '../../../libs/simulation/index.js';
import type { Outcome } from '../../../libs/statistics/index.js';
import { Database } from '../../platform/database/database.js';
import { notErased } from '../../platform/database/erased-agents.js';
import { readPage } from '../../platform/database/page-query.js';
import type { RecordingFacts } from '../recordings/recordings.service.js';
import type { ImportFacts, Preliminary } from './dto/call.responses.js';
import type { AgentCallsQuery } from './dto/list-calls.query.js';
import type { CallEntity } from '../runs/call.entity.js';
import type { AttemptResult } from '../runs/call-attempt.entity.js';
import type { EvaluationSnapshot } from '../runs/run-evaluation.entity.js';
import type { AgentSnapshot, RunEntity, RunOrigin } from '../runs/run.entity.js';

/** A call in a list. */
export type CallRow = CallEntity & {
  readonly evaluationName: string;
  readonly origin: RunOrigin;
  /** Null for others than production calls that go on until their sound is there. */
  readonly preliminary: Preliminary | null;
};

/** A call in the list of its agent. */
export type AgentCallRow = CallRow & Pick<ImportFacts, 'externalId'>;

export type CallWithResult = AgentCallRow & {
  /** Null until the call has ended, and for calls that ended without a result. */
  readonly result: CallResult | null;
  /** Results of earlier attempts, by the position of the attempt from 1; null if there are none. */
  readonly earlierResults: Readonly<Record<number, AttemptResult>> | null;
  /** What there is of each attempt, by its `callId`; null if there is nothing. */
  readonly recordings: Readonly<Record<string, RecordingFacts>> | null;
};

/** The recording of the attempt that counts: the last one of an ended call. */
export const recordingOf = ({ status, attempts, recordings }: CallWithResult): RecordingFacts | null =>
  (status === 'ENDED' && recordings?.[attempts.at(-1)?.callId ?? '']) || null;

export type WholeCall = CallWithResult & {
  readonly evaluation: EvaluationSnapshot;
  /** Without what the run says of numbers that ring. */
  readonly agent: AgentSnapshot;
  readonly agentVersion: string | null;
  readonly agentVariables: VariablesRow;
  readonly assistantVersion: string | null;
  /** Of its attempts that took a line; null if its platform does not bill. */
  readonly platform: PlatformFigures | null;
  readonly imported: ImportFacts | null;
};

/** What is known of a call on a platform that bills. */
export interface PlatformFigures {
  /** Of the latest attempt, in the records of the platform. */
  readonly id: string | null;
  readonly paidSeconds: number;
  readonly isEstimated: boolean;
  readonly waitedForLineMs: number;
}

export type CallFigures = Pick<
  CallEntity,
  'evaluationId' | 'caseKey' | 'outcome' | 'score' | 'latencies' | 'retries' | 'provisional'
> & {
  /** As `durationOf` of libs/run-report computes it. */
  readonly durationMs: number;
};

/** Of a run that was just deleted, the origin is the one that fewest may read. */
const COLUMNS = `coalesce((SELECT o.origin FROM runs o WHERE o.id = c.run_id), 'production') AS origin, c.id, c.workspace_id AS "workspaceId", c.agent_id AS "agentId", c.run_id AS "runId",
  c.evaluation_id AS "evaluationId", c.case_key AS "caseKey", c.variables, c.protocol, c.medium, c.source_call_id AS "sourceCallId", c.recorded_call_id AS "recordedCallId", c.position, c.repetition, c.status, c.outcome, c.provisional,
  c.score, c.reason, c.attempts, c.retries, c.latencies, c.started_at AS "startedAt", c.ended_at AS "endedAt", c.changed_in AS "changedIn",
  CASE WHEN c.lease_until = 'infinity' THEN (
    SELECT jsonb_build_object('outcome', p.decided -> 'outcome', 'checks', p.decided -> 'checks') FROM call_imports p WHERE p.call_id = c.id) END AS preliminary,
  c.created_at AS "createdAt", c.updated_at AS "updatedAt", e.snapshot ->> 'name' AS "evaluationName"`;
const RESULTS = `s.result, (SELECT i.external_id FROM call_imports i WHERE i.call_id = coalesce(c.recorded_call_id, c.id)) AS "externalId", CASE WHEN jsonb_array_length(c.attempts) > (c.status = 'ENDED')::int THEN (
    SELECT jsonb_object_agg(a.number, a.result) FROM call_attempts a WHERE a.call_id = c.id) END AS "earlierResults",
  (SELECT jsonb_object_agg(d.id, jsonb_build_object('seconds', d.seconds, 'sampleRate', d.sample_rate,
                                                    'channels', '["caller", "agent"]'::jsonb, 'bytes', d.bytes))
     FROM recordings d WHERE d.call_id = coalesce(c.recorded_call_id, c.id)) AS recordings`;
const EVALUATION = `JOIN run_evaluations e ON e.run_id = c.run_id AND e.evaluation_id = c.evaluation_id`;

const PLATFORM = `CASE WHEN c.bills THEN (
    SELECT jsonb_build_object(
             'id', (array_agg(p.platform_id ORDER BY p.created_at DESC))[1],
             'paidSeconds', coalesce(round(sum(p.paid_seconds)::numeric, 1), 0),
             'isEstimated', coalesce(bool_or(p.paid_by = 'tester'), false),
             'waitedForLineMs', c.waited_for_line_ms + CASE WHEN c.status = 'QUEUED' THEN capacity_wait_ms(c.capacity_wait_since) ELSE 0 END)
      FROM platform_calls p WHERE p.call_id = c.id) END`;

const IMPORTED = `(
  SELECT jsonb_build_object('origin', i.origin, 'externalId', i.external_id, 'endedReason', i.ended_reason, 'reported', i.reported)
    FROM call_imports i WHERE i.call_id = coalesce(c.recorded_call_id, c.id))`;

const LIST = {
  columns: COLUMNS,
  from: 'calls c',
  joins: EVALUATION,
  where: 'c.run_id = $1',
};
const LIST_BY_OUTCOME = { ...LIST, where: 'c.run_id = $1 AND c.outcome = $2' };

/** $2: outcome, $3: origin, $4: begin, $5: external id and $6: whether it was fetched, or null. Derived calls are those of other calls. */
const LIST_OF_AGENT = {
  columns: `${COLUMNS}, i.external_id AS "externalId"`,
  from: 'calls c',
  joins: `${EVALUATION} LEFT JOIN call_imports i ON i.call_id = c.id`,
  where: `c.agent_id = $1 AND c.recorded_call_id IS NULL AND EXISTS (SELECT 1 FROM runs r WHERE r.id = c.run_id AND ($3::text IS NULL OR r.origin = $3)
      AND ($6::boolean IS NULL OR (r.day IS NOT NULL) = $6))
    AND ($2::text IS NULL OR c.outcome = $2) AND ($4::timestamptz IS NULL OR c.started_at >= $4)
    AND ($5::text IS NULL OR c.id IN (SELECT x.call_id FROM call_imports x WHERE x.agent_id = $1 AND x.external_id = $5))`,
};

const FIND = `
  SELECT ${COLUMNS}, e.snapshot AS evaluation, r.agent_snapshot - 'dialling' AS agent, r.agent_version AS "agentVersion",
         r.agent_variables AS "agentVariables", r.assistant_version AS "assistantVersion", ${RESULTS},
         ${PLATFORM} AS platform, ${IMPORTED} AS imported
    FROM calls c ${EVALUATION} JOIN runs r ON r.id = c.run_id LEFT JOIN call_results s ON s.call_id = c.id
   WHERE c.id = $1 AND ${notErased('c.agent_id')}`;

const BATCH = `
  SELECT ${COLUMNS}, ${RESULTS} FROM calls c ${EVALUATION} LEFT JOIN call_results s ON s.call_id = c.id
   WHERE c.run_id = $1 AND c.position > $2
     AND ($4::text[] IS NULL OR c.outcome = ANY ($4))
   ORDER BY c.position LIMIT $3`;

/**
 * The same for some evaluations ($5) with $6 calls per case. Uses that their calls are adjacent in the plan, because a report
 * with thousands of suites would otherwise scan all calls of the run for each of them. ORDER BY e.position makes the
 * planner start with the evaluations.
 */
const BATCH_OF_EVALUATIONS = `
  SELECT ${COLUMNS}, ${RESULTS} FROM run_evaluations e
    JOIN calls c ON c.run_id = e.run_id AND c.position >= e.first_call
                AND c.position < e.first_call + e.cases * $6::integer
    LEFT JOIN call_results s ON s.call_id = c.id
   WHERE e.run_id = $1 AND e.evaluation_id = ANY ($5::uuid[]) AND c.position > $2
     AND ($4::text[] IS NULL OR c.outcome = ANY ($4))
   ORDER BY e.position, c.position LIMIT $3`;

/** Number of calls with results, and of evaluations, read by one statement. */
const BATCH_SIZE = 25;

const FIGURES = `
  SELECT evaluation_id AS "evaluationId", case_key AS "caseKey", outcome, score, latencies, retries, provisional,
         floor(0.5 + coalesce((s.result #>> '{measures,durationMs}')::float8,
                              greatest(0, 1000 * extract(epoch FROM c.ended_at - c.started_at))::float8, 0)) AS "durationMs"
    FROM calls c LEFT JOIN call_results s ON s.call_id = c.id WHERE c.run_id = $1 ORDER BY c.position`;

/**
 * $2: id of the transaction and $3: id of the call after which to continue. Returns at least one row, for the horizon: all
 * transactions before it have ended, so no change is missed by continuing from there.
 */
const CHANGED = `
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon, n.*
    FROM (SELECT 1) one LEFT JOIN (
      SELECT ${COLUMNS} FROM calls c ${EVALUATION}
       WHERE c.run_id = $1 AND (c.changed_in, c.id) > ($2, $3::uuid)
         AND (c.status <> 'QUEUED' OR c.attempts <> '[]')
       ORDER BY c.changed_in, c.id LIMIT $4) n ON true`;

/** SQL for reading calls and their results. */
@Injectable()
export class CallsRepository {
  constructor(private readonly database: Database) {}

  async page(
    runId: string,
    outcome: Outcome | undefined,
    page: { limit: number; offset: number },
  ): Promise<{ rows: CallRow[]; total: number }> {
    return outcome === undefined
      ? readPage<CallRow>(this.database, LIST, [runId], page)
      : readPage<CallRow>(this.database, LIST_BY_OUTCOME, [runId, outcome], page);
  }

  async pageOfAgent(
    agentId: string,
    { outcome, origin, from, externalId, fetched }: Omit<AgentCallsQuery, 'page' | 'limit'>,
    page: { limit: number; offset: number },
  ): Promise<{ rows: AgentCallRow[]; total: number }> {
    const values = [agentId, outcome ?? null, origin ?? null, from ?? null, externalId ?? null, fetched ?? null];
    return readPage<AgentCallRow>(this.database, LIST_OF_AGENT, values, page);
  }

  async find(id: string): Promise<WholeCall | undefined> {
    const [row] = await this.database.query<WholeCall>(FIND, [id]);
    return row;
  }

  /** The inputs of statistics on a run's calls, in plan order. */
  async figures(runId: string): Promise<CallFigures[]> {
    return this.database.query(FIGURES, [runId]);
  }

  /**
   * Calls of a run with their results, in plan order, read in batches to limit memory.
   * @param filter `evaluationIds` must be in plan order
   */
  async *all(
    { id: runId, repeat }: Pick<RunEntity, 'id' | 'repeat'>,
    {
      evaluationIds,
      outcomes = null,
    }: { evaluationIds?: readonly string[]; outcomes?: readonly Outcome[] | null } = {},
  ): AsyncGenerator<CallWithResult> {
    if (!evaluationIds) return yield* this.batches(BATCH, runId, [outcomes]);
    for (let at = 0; at < evaluationIds.length; at += BATCH_SIZE) {
      const batch = evaluationIds.slice(at, at + BATCH_SIZE);
      yield* this.batches(BATCH_OF_EVALUATIONS, runId, [outcomes, batch, repeat]);
    }
  }

  private async *batches(
    statement: string,
    runId: string,
    wanted: readonly unknown[],
  ): AsyncGenerator<CallWithResult, void> {
    for (let position = -1; ;) {
      const rows = await this.database.query<CallWithResult>(statement, [runId, position, BATCH_SIZE, ...wanted]);
      yield* rows;
      const last = rows.at(-1);
      if (!last || rows.length < BATCH_SIZE) return;
      position = last.position;
    }
  }

  /** Pages of the calls that changed in transaction `since` or later; `horizon` is the next value for `since`. */
  async *changedSince(
    runId: string,
    since: bigint,
  ): AsyncGenerator<{ calls: CallRow[]; horizon: bigint; isLast: boolean }> {
    const batch = 500;
    let [from, after] = [(since - 1n).toString(), 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
    let horizon: bigint | undefined;
    for (;;) {
      const rows = await this.database.query<CallRow & { horizon: string }>(CHANGED, [runId, from, after, batch]);
      // The horizon of the first page: changes made while later pages are read are returned next time.
      horizon ??= BigInt(rows[0]?.horizon ?? 0);
      const calls = rows.filter(({ id }) => (id as string | null) !== null);
      const last = calls.at(-1);
      const isLast = !last || calls.length < batch;
      yield { calls, horizon, isLast };
      if (isLast) return;
      [from, after] = [last.changedIn, last.id];
    }
  }
}
