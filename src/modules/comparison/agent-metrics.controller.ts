import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { AgentMetrics } from './dto/agent-metrics.response.js';
import { AgentMetricsQuery } from './dto/comparison.queries.js';
import { AgentMetricsService } from './agent-metrics.service.js';

@Controller()
export class AgentMetricsController {
  constructor(private readonly service: AgentMetricsService) {}

  @Operation({
    summary: 'Get the metrics of an agent',
    description:
      'Results over time: runs, calls, score, latency percentiles, pass rates and flaky evaluations. At most 366 days per request.',
    tag: 'Runs',
    access: 'VIEWER',
    path: { agentId: 'Identifier of the agent' },
    query: true,
    response: { shape: 'data', type: AgentMetrics, message: 'Agent metrics retrieved successfully' },
  })
  @Get('agents/:agentId/metrics')
  getAgentMetrics(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Query() query: AgentMetricsQuery,
  ): Promise<AgentMetrics> {
    return this.service.read(caller, agentId, query);
  }
}
