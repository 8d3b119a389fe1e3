import { Injectable } from '@nestjs/common';
import { type LatencyMeasures, MIN_TURNS_FOR_PERCENTILES, wilsonInterval } from '../../../libs/statistics/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { about, invalidInput } from '../../platform/errors/domain-error.js';
import { AgentsService } from '../agents/agents.service.js';
import type { AgentMetrics } from './dto/agent-metrics.response.js';
import type { AgentMetricsQuery } from './dto/comparison.queries.js';
import { AgentMetricsRepository } from './agent-metrics.repository.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_RANGE_MS = 30 * DAY_MS;
const MAX_RANGE_DAYS = 366;
const MAX_POINTS = 1_000;

/** The results of an agent over time. */
@Injectable()
export class AgentMetricsService {
  constructor(
    private readonly repository: AgentMetricsRepository,
    private readonly agents: AgentsService,
  ) {}

  /** @throws DomainError NOT_FOUND or FORBIDDEN for the agent; BAD_REQUEST for the range */
  async read(caller: Caller, agentId: string, query: AgentMetricsQuery): Promise<AgentMetrics> {
    const { id } = await this.agents.describe(caller, agentId);
    const { from, to } = range(query);
    const { runs, calls, latency, scores, evaluations } = await this.repository.read(id, from, to, MAX_POINTS);
    const { score = null, retriedCalls = 0, ...counts } = calls ?? { passed: 0, failed: 0, invalid: 0, error: 0 };
    return {
      from: from.toISOString(),
      to: to.toISOString(),
      runs: runs ?? { total: 0, completed: 0, failed: 0, cancelled: 0 },
      calls: counts,
      retriedCalls,
      score,
      scores: scores.map((point) => ({ ...point, endedAt: point.endedAt.toISOString() })),
      latency: toMeasures(latency?.count ?? 0, latency?.ranks ?? []),
      evaluations: evaluations.map((row) => ({
        evaluationId: row.evaluationId,
        name: row.name,
        counted: row.counted,
        passed: row.passed,
        passRate: row.passed / row.counted,
        passRateInterval: wilsonInterval(row.counted, row.passed),
        isFlaky: row.isFlaky,
      })),
      flakyEvaluationIds: evaluations.filter(({ isFlaky }) => isFlaky).map(({ evaluationId }) => evaluationId),
    };
  }
}

/** @throws DomainError BAD_REQUEST */
function range(query: AgentMetricsQuery): { from: Date; to: Date } {
  const to = query.to === undefined ? new Date() : new Date(query.to);
  const from = query.from === undefined ? new Date(to.getTime() - DEFAULT_RANGE_MS) : new Date(query.from);
  if (from >= to) throw invalidInput(about('from', 'must be before to'));
  if (to.getTime() - from.getTime() > MAX_RANGE_DAYS * DAY_MS) {
    throw invalidInput(about('from', `must be at most ${MAX_RANGE_DAYS} days before to`));
  }
  return { from, to };
}

function toMeasures(count: number, ranks: readonly number[]): LatencyMeasures {
  const [p50 = null, p90 = null, p95 = null, p99 = null, worst = null] = ranks;
  return count < MIN_TURNS_FOR_PERCENTILES
    ? { count, p50, p90: null, p95: null, p99: null, worst }
    : { count, p50, p90, p95, p99, worst };
}
