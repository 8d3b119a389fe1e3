import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { CallFigures, RunFigures, ScorePoint } from './dto/agent-metrics.response.js';

/** Runs of an agent with calls of their own that ended within [$2, $3). */
const RUNS = `SELECT r.id, r.name, r.status, r.score, r.ended_at FROM runs r
               WHERE r.agent_id = $1 AND r.ended_at >= $2 AND r.ended_at < $3
                 AND r.derived_from IS NULL AND NOT r.is_imported`;

const RUN_FIGURES = `
  SELECT count(*)::int AS total, count(*) FILTER (WHERE status = 'COMPLETED')::int AS completed,
         count(*) FILTER (WHERE status = 'FAILED')::int AS failed,
         count(*) FILTER (WHERE status = 'CANCELLED')::int AS cancelled
    FROM (${RUNS}) r`;

/** $4: maximum number of points, the latest ones. Only runs with a counted call have a score. */
const SCORES = `
  SELECT s.* FROM (
    SELECT r.id AS "runId", r.name, r.status, r.score, r.ended_at AS "endedAt" FROM (${RUNS}) r
     WHERE r.status <> 'CANCELLED'
       AND EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.id AND c.outcome IN ('passed', 'failed') AND NOT c.provisional)
     ORDER BY r.ended_at DESC, r.id DESC LIMIT $4) s
   ORDER BY s."endedAt", s."runId"`;

const CALL_FIGURES = `
  SELECT count(*) FILTER (WHERE c.outcome = 'passed')::int AS passed,
         count(*) FILTER (WHERE c.outcome = 'failed')::int AS failed,
         count(*) FILTER (WHERE c.outcome = 'invalid')::int AS invalid,
         count(*) FILTER (WHERE c.outcome = 'error')::int AS error,
         count(*) FILTER (WHERE c.retries > 0)::int AS "retriedCalls",
         round(avg(c.score) FILTER (WHERE c.outcome IN ('passed', 'failed'))::numeric, 1)::float8 AS score
    FROM calls c WHERE c.run_id IN (SELECT id FROM (${RUNS}) r) AND c.status = 'ENDED' AND NOT c.provisional`;

/** percentile_disc uses the nearest rank, like libs/simulation for a single call. */
const LATENCIES = `
  SELECT count(*)::int AS count, percentile_disc(ARRAY[0.5, 0.9, 0.95, 0.99, 1]) WITHIN GROUP (ORDER BY l.ms) AS ranks
    FROM calls c CROSS JOIN LATERAL unnest(c.latencies) AS l (ms)
   WHERE c.run_id IN (SELECT id FROM (${RUNS}) r) AND c.outcome IN ('passed', 'failed') AND NOT c.provisional`;

/** Flaky: some calls of a case passed and others failed within one run. */
const EVALUATIONS = `
  SELECT p.evaluation_id AS "evaluationId", (array_agg(e.snapshot ->> 'name' ORDER BY r.ended_at DESC))[1] AS name,
         sum(p.passed)::int AS passed, sum(p.counted)::int AS counted,
         bool_or(p.passed > 0 AND p.passed < p.counted) AS "isFlaky"
    FROM (SELECT c.run_id, c.evaluation_id, c.case_key, count(*) FILTER (WHERE c.outcome = 'passed') AS passed, count(*) AS counted
            FROM calls c WHERE c.run_id IN (SELECT id FROM (${RUNS}) r) AND c.outcome IN ('passed', 'failed') AND NOT c.provisional
           GROUP BY c.run_id, c.evaluation_id, c.case_key) p
    JOIN runs r ON r.id = p.run_id
    JOIN run_evaluations e ON e.run_id = p.run_id AND e.evaluation_id = p.evaluation_id
   GROUP BY p.evaluation_id
   ORDER BY name, p.evaluation_id`;

/** Counted and passed calls of an evaluation. */
export interface EvaluationFigures {
  readonly evaluationId: string;
  readonly name: string;
  readonly passed: number;
  readonly counted: number;
  readonly isFlaky: boolean;
}

/** SQL for the metrics of an agent's runs that ended at or after `from` and before `to`. */
@Injectable()
export class AgentMetricsRepository {
  constructor(private readonly database: Database) {}

  async read(agentId: string, from: Date, to: Date, maxPoints: number) {
    const values = [agentId, from, to];
    const [[runs], [calls], [latency], scores, evaluations] = await Promise.all([
      this.database.query<RunFigures>(RUN_FIGURES, values),
      this.database.query<CallFigures & { retriedCalls: number; score: number | null }>(CALL_FIGURES, values),
      this.database.query<{ count: number; ranks: number[] | null }>(LATENCIES, values),
      this.database.query<ScorePoint & { endedAt: Date }>(SCORES, [...values, maxPoints]),
      this.database.query<EvaluationFigures>(EVALUATIONS, values),
    ]);
    return { runs, calls, latency, scores, evaluations };
  }
}
