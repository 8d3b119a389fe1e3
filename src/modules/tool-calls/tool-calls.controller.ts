import { Body, Controller, Post, UseFilters } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { EXAMPLE_ID } from '../../platform/http/dto/example-ids.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { ReportToolCallRequest } from './dto/tool-call.request.js';
import { RefusalFilter } from './refusal.filter.js';
import { ToolCallsService } from './tool-calls.service.js';

@Controller('tool-calls')
@UseFilters(RefusalFilter)
export class ToolCallsController {
  constructor(private readonly service: ToolCallsService) {}

  @Operation({
    summary: 'Report a tool call',
    description:
      'The backend of an agent reports what the agent did on a call in progress, over a connection with the option `toolCalls: reported`: checks on tools are then decided by it, also where the protocol shows no tool calls. A call that has ended returns 409, as does one with 200 reports. Reports are accepted until 3 s after the hang-up.',
    tag: 'Runs',
    access: 'EDITOR',
    body: {
      type: ReportToolCallRequest,
      example: {
        callId: EXAMPLE_ID.call,
        id: 'call_h7Qk2',
        name: 'book_table',
        arguments: { guests: 2, time: '19:00' },
        result: { booked: true },
      },
    },
    response: { shape: 'message', message: 'Tool call accepted', status: 202 },
    errors: ['NOT_FOUND', 'CONFLICT'],
  })
  @Post()
  reportToolCall(@CurrentCaller() caller: Caller, @Body() body: ReportToolCallRequest): Promise<void> {
    return this.service.report(caller, body);
  }
}
