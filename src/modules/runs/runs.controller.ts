import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { lifetimeSignal } from '../../platform/http/responses/close-signal.js';
import { AlternateResponse } from '../../platform/http/responses/envelope.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { KeyWatchService } from '../api-keys/key-watch.service.js';
import { ListRunsQuery, ReadRunQuery, RerunQuery, RunPlan, StartRunRequest } from './dto/run.requests.js';
import { Run, RunDetails, RunMetrics } from './dto/run.responses.js';
import { RunDeletionService } from './retention/run-deletion.service.js';
import { RunsService } from './runs.service.js';
import { RunStarterService } from './start/run-starter.service.js';

const tag = 'Runs';

@Controller()
export class RunsController {
  constructor(
    private readonly service: RunsService,
    private readonly starter: RunStarterService,
    private readonly deletion: RunDeletionService,
    private readonly keys: KeyWatchService,
  ) {}

  @Operation({
    summary: 'Start a run',
    description:
      'Runs evaluations of the agent: a simulated caller talks to it, and checks and criteria judge the conversation. The run continues in the background; follow it with `?wait=`, its event stream or a webhook. With `dryRun` the response is the plan and nothing is started.',
    tag,
    access: 'EDITOR',
    path: { agentId: 'Identifier of the agent' },
    body: { type: StartRunRequest, example: { name: 'Nightly', repeat: 3, concurrency: 5, minimumScore: 80 } },
    response: {
      shape: 'data',
      type: RunDetails,
      message: 'Run started successfully',
      status: 201,
      example: {
        status: 'QUEUED',
        score: 0,
        startedAt: null,
        endedAt: null,
        counts: { passed: 0, failed: 0, invalid: 0, error: 0, cancelled: 0, pending: 12 },
      },
      alternate: { status: 200, type: RunPlan, message: 'Run planned successfully; nothing was started' },
    },
    errors: ['CONFLICT'],
  })
  @Post('agents/:agentId/runs')
  async startRun(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Body() body: StartRunRequest,
  ): Promise<RunDetails | AlternateResponse> {
    if (body.dryRun) return new AlternateResponse(await this.starter.plan(caller, agentId, body));
    return this.starter.start(caller, agentId, body);
  }

  @Operation({
    summary: "List an agent's runs",
    description: 'Returns the runs of the agent, newest first.',
    tag,
    access: 'VIEWER',
    path: { agentId: 'Identifier of the agent' },
    query: true,
    response: { shape: 'page', type: Run, message: 'Runs retrieved successfully' },
  })
  @Get('agents/:agentId/runs')
  listRuns(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Query() query: ListRunsQuery,
  ): Promise<Page<Run>> {
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

  @Operation({
    summary: 'Rerun a run',
    description:
      'Starts a new run with the same plan: evaluations and personalities as they were in that run, the agent as it is now. With `only=failed`, only cases with a call that did not pass. A run of imported calls is refused (409): they were not made by the service.',
    tag,
    access: 'EDITOR',
    path: { id: 'Identifier of the run' },
    query: true,
    response: {
      shape: 'data',
      type: RunDetails,
      message: 'Run started successfully',
      status: 201,
      example: { status: 'QUEUED', score: 0, startedAt: null, endedAt: null },
    },
    errors: ['CONFLICT'],
  })
  @Post('runs/:id/rerun')
  rerunRun(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { only }: RerunQuery,
  ): Promise<RunDetails> {
    return this.starter.rerun(caller, id, only === 'failed');
  }

  @Operation({
    summary: 'Delete a run',
    description:
      'Permanently deletes an ended run with its calls, transcripts, recordings and report links. They disappear from the metrics of the agent as well. Webhook deliveries about the run are kept until their own retention time has passed.',
    tag,
    access: 'ADMIN',
    path: { id: 'Identifier of the run' },
    response: { shape: 'message', message: 'Run deleted successfully' },
    errors: ['CONFLICT'],
  })
  @Delete('runs/:id')
  deleteRun(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    return this.deletion.delete(caller, id);
  }
}
