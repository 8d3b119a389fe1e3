import { Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { lifetimeSignal } from '../../platform/http/responses/close-signal.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { KeyWatchService } from '../api-keys/key-watch.service.js';
import { ListRunsQuery, ReadRunQuery } from './dto/run.queries.js';
import { ListedRun, RunDetails, RunMetrics } from './dto/run.responses.js';
import { RunsService } from './runs.service.js';

const tag = 'Runs';

@Controller()
export class RunsController {
  constructor(
    private readonly service: RunsService,
    private readonly keys: KeyWatchService,
  ) {}

  @Operation({
    summary: "List an agent's runs",
    description: 'Returns the runs of the agent with their outcomes, newest first.',
    tag,
    access: 'VIEWER',
    path: { agentId: 'Identifier of the agent' },
    query: true,
    response: { shape: 'page', type: ListedRun, message: 'Runs retrieved successfully' },
  })
  @Get('agents/:agentId/runs')
  listRuns(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Query() query: ListRunsQuery,
  ): Promise<Page<ListedRun>> {
    return this.service.list(caller, agentId, query);
  }

  @Operation({
    summary: 'Get a run',
    description:
      'With `wait`, responds when the run has ended or the time has passed, whichever comes first; 401 as soon as the API key is revoked or expires.',
    tag,
    access: 'VIEWER',
    path: { id: 'Identifier of the run' },
    query: true,
    response: { shape: 'data', type: RunDetails, message: 'Run retrieved successfully' },
  })
  @Get('runs/:id')
  getRun(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { wait = 0 }: ReadRunQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RunDetails> {
    const signal = wait === 0 ? undefined : lifetimeSignal(response, this.keys.watch(caller));
    return this.service.get(caller, id, wait * 1000, signal);
  }

  @Operation({
    summary: 'Get the metrics of a run',
    description: 'Status and results so far. Readable after its agent was deleted.',
    tag,
    access: 'VIEWER',
    path: { runId: 'Identifier of the run' },
    response: { shape: 'data', type: RunMetrics, message: 'Run metrics retrieved successfully' },
  })
  @Get('runs/:runId/metrics')
  getRunMetrics(@CurrentCaller() caller: Caller, @Param('runId') runId: string): Promise<RunMetrics> {
    return this.service.metrics(caller, runId);
  }

  @Operation({
    summary: 'Cancel a run',
    description: 'Starts no further calls and aborts running ones; results of ended calls are kept. Idempotent.',
    tag,
    access: 'EDITOR',
    path: { id: 'Identifier of the run' },
    response: {
      shape: 'data',
      type: RunDetails,
      message: 'Run cancelled successfully',
      example: { status: 'CANCELLED' },
    },
    errors: ['CONFLICT'],
  })
  @Post('runs/:id/cancel')
  cancelRun(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<RunDetails> {
    return this.service.cancel(caller, id);
  }
}
