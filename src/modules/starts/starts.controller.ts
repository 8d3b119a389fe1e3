import { Body, Controller, Param, Post, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { AlternateResponse } from '../../platform/http/responses/envelope.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { RerunQuery, RunPlan, StartRunRequest } from './dto/start-run.requests.js';
import { RunDetails } from '../runs/dto/run.responses.js';
import { RunStarterService } from './run-starter.service.js';

const tag = 'Runs';

@Controller()
export class StartsController {
  constructor(private readonly starter: RunStarterService) {}

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
        counts: { passed: 0, failed: 0, invalid: 0, error: 0, cancelled: 0, pending: 12, provisional: 0 },
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
    summary: 'Rerun a run',
    description:
      'Starts a new run with the same plan: evaluations and personalities as they were in that run, the agent as it is now. With `only=failed`, only cases with a call that did not pass. A run of imported calls is refused (409): they were not made by the service. With `dryRun=true` the response is the plan and nothing is started.',
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
      alternate: { status: 200, type: RunPlan, message: 'Run planned successfully; nothing was started' },
    },
    errors: ['CONFLICT'],
  })
  @Post('runs/:id/rerun')
  async rerunRun(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { only, dryRun }: RerunQuery,
  ): Promise<RunDetails | AlternateResponse> {
    if (dryRun === 'true') return new AlternateResponse(await this.starter.planRerun(caller, id, only === 'failed'));
    return this.starter.rerun(caller, id, only === 'failed');
  }
}
