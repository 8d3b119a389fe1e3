import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { PageQuery } from '../../platform/http/pagination.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { Run, RunMetrics } from './dto/run.responses.js';
import { RunsService } from './runs.service.js';

const tag = 'Runs';

@Controller()
export class RunsController {
  constructor(private readonly service: RunsService) {}

  @Operation({
    summary: "List an agent's runs",
    description: 'The test runs of the agent, newest first.',
    tag,
    access: 'VIEWER',
    path: { agentId: 'Identifier of the agent' },
    query: true,
    answer: { shape: 'page', type: Run, message: 'Runs retrieved successfully' },
  })
  @Get('agents/:agentId/runs')
  listRuns(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Query() query: PageQuery,
  ): Promise<Page<Run>> {
    return this.service.list(caller, agentId, query);
  }

  @Operation({
    summary: 'Read the metrics of a run',
    description: 'What the run came to so far. Stays readable after its agent was deleted.',
    tag,
    access: 'VIEWER',
    path: { runId: 'Identifier of the run' },
    answer: { shape: 'data', type: RunMetrics, message: 'Run metrics retrieved successfully' },
  })
  @Get('runs/:runId/metrics')
  getRunMetrics(@CurrentCaller() caller: Caller, @Param('runId') runId: string): Promise<RunMetrics> {
    return this.service.metrics(caller, runId);
  }
}
