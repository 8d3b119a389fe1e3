import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { AgentCall, Call, CallDetails } from './dto/call.responses.js';
import { AgentCallsQuery, ListCallsQuery } from './dto/list-calls.query.js';
import { CallsService } from './calls.service.js';

const tag = 'Runs';

@Controller()
export class CallsController {
  constructor(private readonly service: CallsService) {}

  @Operation({
    summary: 'List the calls of a run',
    description: 'Sorted by the order of the plan: by evaluation, then by repetition.',
    tag,
    access: 'VIEWER',
    path: { id: 'Identifier of the run' },
    query: true,
    response: { shape: 'page', type: Call, message: 'Calls retrieved successfully' },
  })
  @Get('runs/:id/calls')
  listCalls(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: ListCallsQuery,
  ): Promise<Page<Call>> {
    return this.service.list(caller, id, query);
  }

  @Operation({
    summary: 'List the calls of an agent',
    description: 'Newest first, without those of derived runs, which judge other calls again.',
    tag,
    access: 'VIEWER',
    path: { id: 'Identifier of the agent' },
    query: true,
    response: { shape: 'page', type: AgentCall, message: 'Calls retrieved successfully' },
  })
  @Get('agents/:id/calls')
  listAgentCalls(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: AgentCallsQuery,
  ): Promise<Page<AgentCall>> {
    return this.service.listOfAgent(caller, id, query);
  }

  @Operation({
    summary: 'Get a call',
    description:
      'Transcript with times, checks and criteria with their evidence, measures, and the versions used. VIEWER keys get production calls without anything that was said: `words` is `withheld`.',
    tag,
    access: 'VIEWER',
    path: { id: 'Identifier of the call' },
    response: { shape: 'data', type: CallDetails, message: 'Call retrieved successfully' },
  })
  @Get('calls/:id')
  getCall(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<CallDetails> {
    return this.service.get(caller, id);
  }
}
