import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { readPage } from '../../platform/database/page-query.js';
import type { RunEntity } from '../runs/run.entity.js';
import type { CaseResultEntity } from './case-result.entity.js';
import type { Tester } from './tester.js';

/** Rows deleted by one statement. */
const MAX_ROWS = 1_000;

/** What of a snapshot decides, with `agentVariables`, what is asked of the agent; names, tags and the origin of dates do not. */
const DEFINITION = `e.snapshot - '{key,name,tags,critical,dates,appliesTo,provisional}'::text[]`;

/** Results of the days of production calls are a stream of their own, whose id is that of their agent: this tells the others, `h`. */
export const IS_OF_TESTS = 'h.schedule_id IS DISTINCT FROM h.agent_id';
/** The last moment of the day of production calls, also if calls are added later. */
const ENDED_AT = `least(r.ended_at, (r.day + 1)::timestamp AT TIME ZONE 'UTC' - interval '1 millisecond')`;

/** The calls of a case, the one first that shows its outcome best. */
const BEST = `outcome <> 'failed', outcome = 'passed', c.position`;

/**
 * $1: the run; $2: its cases and $3: their names, in plan order; $4: the tester of a text call and $5: of a voice call. Results of
 * calls, which are large, are not read. On a day of production, calls beyond the most that are judged are a case of their own: only
 * calls that were asked the same can be compared.
 */
const RECORD = `
  WITH asked AS MATERIALIZED (
    SELECT e.evaluation_id, e.snapshot ->> 'key' AS key, (${DEFINITION})::text || CASE WHEN e.judged > 0 THEN ' judged' ELSE '' END AS definition,
           CASE WHEN e.judged > 0 THEN e.taken - e.unjudged END AS judged
      FROM run_evaluations e WHERE e.run_id = $1),
  ended AS (
    SELECT c.case_key, c.evaluation_id, c.variables, c.medium, c.id, c.position, c.repetition, c.outcome,
           coalesce(c.repetition > a.judged, false) AS is_unjudged,
           CASE WHEN c.outcome IN ('passed', 'failed') THEN
             (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ms) FROM unnest(c.latencies) l (ms)) END AS latency
      FROM calls c JOIN asked a ON a.evaluation_id = c.evaluation_id WHERE c.run_id = $1 AND NOT c.provisional),
  cases AS (
    SELECT c.case_key, c.evaluation_id, c.variables, c.is_unjudged, max(c.medium) AS medium,
           count(*) FILTER (WHERE outcome = 'passed') AS passed, count(*) FILTER (WHERE outcome = 'failed') AS failed,
           count(*) FILTER (WHERE outcome = 'invalid') AS invalid, count(*) FILTER (WHERE outcome = 'error') AS error,
           coalesce(array_agg(latency) FILTER (WHERE latency IS NOT NULL), '{}') AS latencies,
           (array_agg(c.id ORDER BY ${BEST}))[1] AS call_id, (array_agg(c.repetition ORDER BY ${BEST}))[1] AS repetition
      FROM ended c GROUP BY c.case_key, c.evaluation_id, c.variables, c.is_unjudged)
  INSERT INTO case_results (id, workspace_id, agent_id, run_id, schedule_id, case_key, evaluation_key, name, position, ended_at,
                            agent_version, definition_hash, tester, passed, failed, invalid, error, latencies, call_id, repetition)
  SELECT gen_random_uuid(), r.workspace_id, r.agent_id, r.id, CASE WHEN r.day IS NULL THEN r.schedule_id ELSE r.agent_id END,
         c.case_key || CASE WHEN is_unjudged THEN ':unjudged' ELSE '' END, a.key,
         n.name || CASE WHEN is_unjudged THEN ' (criteria not judged)' ELSE '' END, n.ordinal - 1, ${ENDED_AT}, r.agent_version,
         encode(sha256(convert_to(a.definition || coalesce(c.variables::text, '')
           || coalesce(nullif(r.agent_variables, '{}')::text, ''), 'UTF8')), 'hex'),
         CASE c.medium WHEN 'voice' THEN $5::jsonb ELSE $4::jsonb END,
         c.passed, c.failed, c.invalid, c.error, c.latencies, c.call_id, c.repetition
    FROM runs r CROSS JOIN cases c
    JOIN asked a ON a.evaluation_id = c.evaluation_id
    JOIN unnest($2::text[], $3::text[]) WITH ORDINALITY AS n (case_key, name, ordinal) ON n.case_key = c.case_key
   WHERE r.id = $1 AND r.ended_at IS NOT NULL AND r.derived_from IS NULL`;

const SET_VERSION = 'UPDATE case_results SET agent_version = $2 WHERE run_id = $1 AND agent_version IS NULL';
const FORGET_RUN = 'DELETE FROM case_results WHERE run_id = $1';

/** $1: an agent; $2: maximum number of rows. */
const ERASE = `
  DELETE FROM case_results WHERE id = ANY (ARRAY(SELECT id FROM case_results WHERE agent_id = $1 LIMIT $2)) RETURNING id`;

/** $1: days since the end of the run; $2: maximum number of rows. */
const DELETE_EXPIRED = `
  DELETE FROM case_results WHERE id = ANY (ARRAY(
    SELECT id FROM case_results WHERE ended_at < now() - $1 * interval '24 hours'
     ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING id`;

/** $2: `caseKey` of a case, or key of an evaluation. */
const LIST = {
  columns: `h.id, h.created_at AS "createdAt", h.run_id AS "runId", h.case_key AS "caseKey", h.evaluation_key AS "evaluationKey",
    h.name, h.ended_at AS "endedAt", h.agent_version AS "agentVersion", h.schedule_id AS "scheduleId", h.passed, h.failed, h.invalid, h.error, h.latencies,
    CASE WHEN EXISTS (SELECT FROM runs r WHERE r.id = h.run_id) THEN h.call_id END AS "callId"`,
  from: 'case_results h',
  where: `h.agent_id = $1 AND ${IS_OF_TESTS} AND (h.case_key = $2 OR h.evaluation_key = $2)`,
};

export type CaseResultRow = Omit<CaseResultEntity, 'callId' | 'tester' | 'definitionHash'> & {
  /** Null once the run was deleted. */
  readonly callId: string | null;
};

/** SQL for the results of cases over time. */
@Injectable()
export class CaseHistoryRepository {
  constructor(private readonly database: Database) {}

  /** Writes nothing of a run that has not ended. @param cases of the run, in plan order */
  async record(
    { id }: Pick<RunEntity, 'id'>,
    cases: readonly { readonly caseKey: string; readonly name: string }[],
    testers: { readonly text: Tester; readonly voice: Tester },
  ): Promise<void> {
    const [keys, names] = [cases.map(({ caseKey }) => caseKey), cases.map(({ name }) => name)];
    await this.database.query(RECORD, [id, keys, names, JSON.stringify(testers.text), JSON.stringify(testers.voice)]);
  }

  /** @param key `caseKey` of a case, or key of an evaluation */
  page(agentId: string, key: string, page: { limit: number; offset: number }) {
    return readPage<CaseResultRow>(this.database, LIST, [agentId, key], page);
  }

  async setAgentVersion(runId: string, version: string): Promise<void> {
    await this.database.query(SET_VERSION, [runId, version]);
  }

  async forgetRun(runId: string): Promise<void> {
    await this.database.query(FORGET_RUN, [runId]);
  }

  /** Deletes a batch of the rows of an agent that is being erased. @returns their number */
  async eraseAgent(agentId: string): Promise<number> {
    return (await this.database.query(ERASE, [agentId, MAX_ROWS])).length;
  }

  /** Deletes a batch of rows whose runs ended more than `days` ago. @returns their number */
  async deleteExpired(days: number): Promise<number> {
    return (await this.database.query(DELETE_EXPIRED, [days, MAX_ROWS])).length;
  }
}
