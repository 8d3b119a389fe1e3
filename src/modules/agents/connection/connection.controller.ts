import { Body, Controller, Delete, Get, Param, Post, Put } from '@nestjs/common';
import { CurrentCaller } from '../../../platform/access/access.decorators.js';
import type { Caller } from '../../../platform/access/caller.js';
import { Operation } from '../../../platform/openapi/operation.decorator.js';
import { ConnectionTestService } from './connection-test.service.js';
import { ConnectionService } from './connection.service.js';
import { Connection, ConnectionTest, PutConnectionRequest } from './dto/connection.dtos.js';

const tag = 'Agents';
const path = { id: 'Identifier of the agent' };

@Controller('agents/:id/connection')
export class ConnectionController {
  constructor(
    private readonly service: ConnectionService,
    private readonly tests: ConnectionTestService,
  ) {}

  @Operation({
    summary: 'Get the connection of an agent',
    description:
      'How calls reach the agent: its own connection, or the address of its provider (`source`). Not found if it has neither. Values of headers are never returned.',
    tag,
    access: 'VIEWER',
    path,
    response: { shape: 'data', type: Connection, message: 'Connection retrieved successfully' },
  })
  @Get()
  getConnection(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<Connection> {
    return this.service.get(caller, id);
  }

  @Operation({
    summary: 'Set the connection of an agent',
    description:
      "Replaces the whole connection. Calls that begin afterwards use it. Requires an ADMIN key if the agent uses the default key of the workspace; 409 if that would be sent to the platform of another protocol than the provider's.",
    tag,
    access: 'EDITOR',
    path,
    body: {
      type: PutConnectionRequest,
      example: {
        protocol: 'chat-completions',
        // The reference agent (npm run reference-agent).
        url: 'http://127.0.0.1:4010/v1/chat/completions',
        headers: { 'X-Tenant': 'bella-vista' },
        firstSpeaker: 'caller',
      },
    },
    response: { shape: 'data', type: Connection, message: 'Connection set successfully' },
    errors: ['CONFLICT'],
  })
  @Put()
  putConnection(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() body: PutConnectionRequest,
  ): Promise<Connection> {
    return this.service.put(caller, id, body);
  }

  @Operation({
    summary: 'Delete the connection of an agent',
    description:
      'Afterwards the address of its provider applies, if the service has one. Returns the connection as it was. Requires an ADMIN key if the agent uses the default key of the workspace.',
    tag,
    access: 'EDITOR',
    path,
    response: { shape: 'data', type: Connection, message: 'Connection deleted successfully' },
  })
  @Delete()
  deleteConnection(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<Connection> {
    return this.service.delete(caller, id);
  }

  @Operation({
    summary: 'Test the connection of an agent',
    description:
      'Calls the agent for at most 15 seconds, with one request as in a call, and hangs up after its first words. Shows step by step what happened, and what to do about a failure: the response is 200 in either case. Counts in no run. One test of an agent at a time, and six of a workspace within a minute; further ones are 429 with `Retry-After`.',
    tag,
    access: 'EDITOR',
    path,
    response: { shape: 'data', type: ConnectionTest, message: 'Connection tested' },
    errors: ['CONFLICT'],
  })
  @Post('test')
  testConnection(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<ConnectionTest> {
    return this.tests.test(caller, id) as Promise<ConnectionTest>;
  }
}
