import { Injectable } from '@nestjs/common';
import { normaliseRow } from '../../../libs/evaluation-definition/index.js';
import { clockOf, type ProtocolName } from '../../../libs/simulation/index.js';
import { MIN_TURNS_FOR_PERCENTILES } from '../../../libs/statistics/index.js';
import { Database } from '../../platform/database/database.js';
import type { RunEntity } from '../runs/run.entity.js';
import type { Asked } from './asked.js';
import type { BaselineFigures, BaselinePurpose, RunBaselineEntity } from './run-baseline.entity.js';
import type { CaseFigures, RunFigures } from './run-figures.js';

/** Runs that are searched for the previous one, newest first. */
const MAX_SEARCHED = 100;

/** Runs named where none can be compared. */
const MAX_NAMED = 5;

/** Figures of whole runs ("caseKey" is null) and of their cases, in plan order. $1: ids of the runs. */
const FIGURES = `
  WITH counted AS MATERIALIZED (
    SELECT c.run_id, c.case_key, c.position, c.outcome, c.score, c.latencies, c.protocol
      FROM calls c WHERE c.run_id = ANY ($1::uuid[]) AND NOT c.provisional),
  totals AS (
    SELECT run_id, case_key, min(position) AS position, min(protocol) AS protocol,
           count(*) FILTER (WHERE outcome IN ('passed', 'failed'))::int AS counted,
           count(*) FILTER (WHERE outcome = 'passed')::int AS passed,
           round(avg(score) FILTER (WHERE outcome IN ('passed', 'failed'))::numeric, 1)::float8 AS score
      FROM counted GROUP BY GROUPING SETS ((run_id, case_key), (run_id))),
  latencies AS (
    SELECT run_id, case_key, count(*)::int AS count,
           percentile_disc(ARRAY[0.5, 0.9, 0.95, 0.99, 1]) WITHIN GROUP (ORDER BY latency) AS percentiles
      FROM counted, unnest(latencies) latency WHERE outcome IN ('passed', 'failed')
     GROUP BY GROUPING SETS ((run_id, case_key), (run_id)))
  SELECT t.run_id AS "runId", t.case_key AS "caseKey", t.counted, t.passed, t.score, t.protocol,
         coalesce(l.count, 0) AS latencies, l.percentiles
    FROM totals t LEFT JOIN latencies l ON l.run_id = t.run_id AND coalesce(l.case_key, '') = coalesce(t.case_key, '')
   ORDER BY t.run_id, t.position`;

interface FiguresRow {
  readonly runId: string;
  readonly caseKey: string | null;
  readonly counted: number;
  readonly passed: number;
  readonly score: number | null;
  /** Decided once for all calls of a run. */
  readonly protocol: ProtocolName | null;
  readonly latencies: number;
  readonly percentiles: readonly [p50: number, p90: number, p95: number, p99: number, worst: number] | null;
}

const COMPARED =
  'r.id, r.name, r.status, r.agent_version AS "agentVersion", r.agent_variables AS "agentVariables", r.assistant_version AS "assistantVersion", r.ended_at AS "endedAt"';

/**
 * The newest of the agent's runs ($1) with calls of its own that ended before a time ($2, by default now) and match. The number of cases ($3)
 * that a run has is counted in a lateral subquery, so that runs after the first match are not read.
 */
const previousRun = (candidate: string, match: string): string => `
  SELECT ${COMPARED}
    FROM (SELECT r.* FROM runs r
           WHERE r.agent_id = $1 AND r.ended_at < coalesce($2, now()) AND r.derived_from IS NULL AND NOT r.is_imported AND ${candidate}
           ORDER BY r.ended_at DESC LIMIT ${MAX_SEARCHED}) r
   CROSS JOIN LATERAL (
     SELECT count(*) AS cases FROM calls c JOIN unnest($3::text[]) k (key) ON k.key = c.case_key
      WHERE c.run_id = r.id AND c.repetition = 1 AND NOT c.provisional) shared
   WHERE ${match} ORDER BY r.ended_at DESC LIMIT 1`;

/** A run with fewer cases cannot have all of them. */
const PREVIOUS_WITH_ALL = previousRun(
  `r.status = 'COMPLETED' AND r.total_calls / r.repeat >= cardinality($3::text[])`,
  'shared.cases = cardinality($3::text[])',
);
const PREVIOUS_WITH_SOME = previousRun(`r.status = 'COMPLETED'`, 'shared.cases > 0');
const LATEST_WITH_SOME = previousRun(`r.status IN ('COMPLETED', 'FAILED')`, 'shared.cases > 0');

const OTHER_ENDED = `
  SELECT r.id, r.name FROM runs r WHERE r.agent_id = $1 AND r.id <> $2 AND r.ended_at IS NOT NULL
   ORDER BY r.ended_at DESC LIMIT ${MAX_NAMED}`;

const CASES = `
  SELECT c.case_key AS "caseKey", c.evaluation_id AS "evaluationId", c.variables, e.snapshot ->> 'name' AS name,
         e.snapshot -> 'key' AS key
    FROM calls c JOIN run_evaluations e ON e.run_id = c.run_id AND e.evaluation_id = c.evaluation_id
   WHERE c.run_id = $1 AND c.repetition = 1 AND NOT c.provisional ORDER BY c.position`;

/** What the evaluations of a run ($1) ask. */
const ASKED = `
  SELECT e.evaluation_id AS "evaluationId", e.snapshot #> '{definition,checks}' AS checks,
         e.snapshot #> '{definition,criteria}' AS criteria,
         md5((jsonb_build_array(e.snapshot -> 'scenarioText', e.snapshot -> 'generalInstructions',
                               e.snapshot #> '{definition,script}')
             || coalesce(e.snapshot #> '{definition,history}', '[]'))::text) AS caller
    FROM run_evaluations e WHERE e.run_id = $1`;

/** Checks that no counted call of an evaluation of a run ($1) decided. */
const UNDECIDED = `
  SELECT c.evaluation_id AS "evaluationId", k ->> 'name' AS name
    FROM calls c JOIN call_results s ON s.call_id = c.id CROSS JOIN jsonb_array_elements(s.result -> 'checks') k
   WHERE c.run_id = $1 AND c.outcome IN ('passed', 'failed')
   GROUP BY c.evaluation_id, k ->> 'name' HAVING bool_and(k -> 'met' = 'null')`;

const FIND_BASELINE = 'SELECT figures FROM run_baselines WHERE run_id = $1 AND purpose = $2';

const INSERT_BASELINE = 'INSERT INTO run_baselines (run_id, purpose, figures) VALUES ($1, $2, $3)';

/** A case of a run's plan. */
export interface NamedCase {
  readonly caseKey: string;
  readonly evaluationId: string;
  /** Key of the evaluation. */
  readonly key: string | null;
  /** Name of the evaluation. */
  readonly name: string;
  readonly variables: Readonly<Record<string, string | number | boolean>> | null;
}

/** What a comparison names of a run. */
export type ComparedRun = Pick<
  RunEntity,
  'id' | 'name' | 'status' | 'agentVersion' | 'agentVariables' | 'assistantVersion' | 'endedAt'
>;

/** SQL for comparing runs. */
@Injectable()
export class ComparisonRepository {
  constructor(private readonly database: Database) {}

  /** The figures of runs and their cases, in the given order. One statement, whatever the number of calls. */
  async figures(runs: readonly ComparedRun[]): Promise<BaselineFigures[]> {
    const rows = await this.database.query<FiguresRow>(FIGURES, [[...new Set(runs.map(({ id }) => id))]]);
    return runs.map((run) => {
      const own = rows.filter(({ runId }) => runId === run.id);
      const total = own.find(({ caseKey }) => caseKey === null);
      return {
        ...identityOf(run),
        ...figuresOf(total ?? NOTHING),
        protocol: total?.protocol ?? null,
        cases: own.flatMap((row) => (row.caseKey === null ? [] : [{ caseKey: row.caseKey, ...figuresOf(row) }])),
      };
    });
  }

  /** The agent's newest completed run that has all the cases, or else at least one of them. @param cases their keys */
  async findCompleted(agentId: string, cases: readonly string[]): Promise<ComparedRun | undefined> {
    for (const statement of [PREVIOUS_WITH_ALL, PREVIOUS_WITH_SOME]) {
      const [run] = await this.database.query<ComparedRun>(statement, [agentId, null, cases]);
      if (run) return run;
    }
    return undefined;
  }

  /**
   * The agent's newest run that ended before a time, with a decision on its gate, and has at least one of the cases.
   * @param cases their keys
   * @param before by default the start of the transaction
   */
  async findPrevious(agentId: string, cases: readonly string[], before?: Date): Promise<ComparedRun | undefined> {
    const [run] = await this.database.query<ComparedRun>(LATEST_WITH_SOME, [agentId, before ?? null, cases]);
    return run;
  }

  /** The newest ended runs of an agent, without one. */
  async otherEnded(agentId: string, runId: string): Promise<Pick<RunEntity, 'id' | 'name'>[]> {
    return this.database.query(OTHER_ENDED, [agentId, runId]);
  }

  /** The cases of a run, in plan order. */
  async cases(runId: string): Promise<NamedCase[]> {
    return this.database.query(CASES, [runId]);
  }

  /** What a run asks of its calls; empty if the run was deleted. @param isDecided whether all checks count as decided */
  async asked(runId: string, isDecided: boolean): Promise<Asked[]> {
    const evaluations = await this.database.query<Omit<Asked, 'undecided'>>(ASKED, [runId]);
    const undecided = isDecided
      ? []
      : await this.database.query<{ evaluationId: string; name: string }>(UNDECIDED, [runId]);
    return evaluations.map((asked) => ({
      ...asked,
      undecided: undecided.filter((one) => one.evaluationId === asked.evaluationId).map(({ name }) => name),
    }));
  }

  async findBaseline(runId: string, purpose: BaselinePurpose): Promise<BaselineFigures | undefined> {
    const [row] = await this.database.query<Pick<RunBaselineEntity, 'figures'>>(FIND_BASELINE, [runId, purpose]);
    return row?.figures;
  }

  async insertBaseline(runId: string, purpose: BaselinePurpose, figures: BaselineFigures): Promise<void> {
    await this.database.query(INSERT_BASELINE, [runId, purpose, JSON.stringify(figures)]);
  }
}

const NOTHING = { counted: 0, passed: 0, score: null, protocol: null, latencies: 0, percentiles: null };

const identityOf = ({ endedAt, ...run }: ComparedRun) => ({
  id: run.id,
  name: run.name,
  status: run.status,
  agentVersion: run.agentVersion,
  agentVariables: normaliseRow(run.agentVariables),
  assistantVersion: run.assistantVersion,
  endedAt: endedAt?.toISOString() ?? null,
});

function figuresOf(
  row: Omit<FiguresRow, 'runId' | 'caseKey'>,
): Pick<RunFigures & CaseFigures, 'counted' | 'passed' | 'score' | 'latency'> {
  const { counted, passed, score, protocol, latencies: count, percentiles } = row;
  const [p50 = null, p90 = null, p95 = null, p99 = null, worst = null] = percentiles ?? [];
  const high = count >= MIN_TURNS_FOR_PERCENTILES ? { p90, p95, p99 } : { p90: null, p95: null, p99: null };
  return { counted, passed, score, latency: { count, p50, ...high, worst, clock: clockOf(protocol) } };
}
