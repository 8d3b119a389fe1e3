import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { AlternateResponse } from '../../platform/http/responses/envelope.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { AgentsService } from './agents.service.js';
import { CreateAgentRequest, DeleteAgentQuery, ListAgentsQuery, UpdateAgentRequest } from './dto/agent.requests.js';
import { Agent } from './dto/agent.response.js';

const tag = 'Agents';
const path = { id: 'Identifier of the agent' };

@Controller('agents')
export class AgentsController {
  constructor(private readonly service: AgentsService) {}

  @Operation({
    summary: 'Register an agent',
    description:
      'Adds an agent of a provider to the workspace. `apiKey` is optional if `isUsingDefaultApiKey` is true and the ' +
      'workspace has a default key for the provider.',
    tag,
    access: 'EDITOR',
    body: {
      type: CreateAgentRequest,
      example: {
        provider: 'AGENT_PROVIDER_1',
        assistantId: 'assistant-1',
        apiKey: 'provider-key-1',
        name: 'Bella Vista reservations',
        type: 'INBOUND',
        language: 'en-US',
        phoneNumber: '+15550100',
      },
    },
    response: { shape: 'data', type: Agent, message: 'Agent created successfully', status: 201 },
  })
  @Post()
  createAgent(@CurrentCaller() caller: Caller, @Body() body: CreateAgentRequest): Promise<Agent> {
    return this.service.create(caller, body);
  }

  @Operation({
    summary: 'List agents',
    description:
      'Returns the agents of the workspace, newest first. Filter by `provider`, by `search`, or by both. With `deleted=true` ' +
      'only deleted agents are listed; that requires an EDITOR key.',
    tag,
    access: 'VIEWER',
    query: true,
    response: { shape: 'page', type: Agent },
  })
  @Get()
  listAgents(@CurrentCaller() caller: Caller, @Query() query: ListAgentsQuery): Promise<Page<Agent>> {
    return this.service.list(caller, query);
  }

  @Operation({
    summary: 'Get an agent',
    description:
      "For EDITOR and ADMIN keys the response contains the agent's own credentials in clear text: treat it as a secret. VIEWER keys read masks.",
    tag,
    access: 'VIEWER',
    path,
    response: { shape: 'data', type: Agent, message: 'Agent retrieved successfully' },
  })
  @Get(':id')
  getAgent(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<Agent> {
    return this.service.get(caller, id);
  }

  @Operation({
    summary: 'Update an agent',
    description: 'Changes the given fields and leaves all others unchanged.',
    tag,
    access: 'EDITOR',
    path,
    body: { type: UpdateAgentRequest, example: { name: 'Bella Vista reservations, evening', callMonitoring: true } },
    response: { shape: 'data', type: Agent, message: 'Agent updated successfully' },
  })
  @Patch(':id')
  updateAgent(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() body: UpdateAgentRequest,
  ): Promise<Agent> {
    return this.service.update(caller, id, body);
  }

  @Operation({
    summary: 'Delete an agent',
    description:
      'Returns the deleted agent. Its evaluations and runs stay readable by id, and it can be restored. With ' +
      '`permanently=true`, which requires an ADMIN key, the agent is erased, whether it was deleted before or not: it, its ' +
      'connection, evaluations, runs, calls, recordings, report links, deliveries and stored responses return 404 from then ' +
      'on and are deleted in the background; personalities stay. Returns 409 while a run of the agent is in progress.',
    tag,
    access: 'EDITOR',
    path,
    query: true,
    response: {
      shape: 'data',
      type: Agent,
      message: 'Agent deleted successfully',
      alternate: { status: 202, type: Agent, message: 'Agent is being erased' },
      example: { deletedAt: '2026-11-21T06:37:42.758Z' },
    },
    errors: ['CONFLICT'],
  })
  @Delete(':id')
  async deleteAgent(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { permanently }: DeleteAgentQuery,
  ): Promise<Agent | AlternateResponse> {
    if (permanently === 'true') return new AlternateResponse(await this.service.erase(caller, id));
    return this.service.delete(caller, id);
  }

  @Operation({
    summary: 'Restore a deleted agent',
    description:
      'Undoes a deletion: the agent has its connection, evaluations and runs again. An agent that is not deleted is 409. ' +
      '`GET /agents?deleted=true` lists those that can be restored.',
    tag,
    access: 'EDITOR',
    path,
    response: { shape: 'data', type: Agent, message: 'Agent restored successfully' },
    errors: ['CONFLICT'],
  })
  @Post(':id/restore')
  @HttpCode(200)
  restoreAgent(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<Agent> {
    return this.service.restore(caller, id);
  }
}
