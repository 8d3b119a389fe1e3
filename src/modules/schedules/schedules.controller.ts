import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { PageQuery } from '../../platform/http/dto/pagination.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { RunDetails } from '../runs/dto/run.responses.js';
import { CreateScheduleRequest, UpdateScheduleRequest } from './dto/schedule.requests.js';
import { CreatedSchedule, Schedule, ScheduleSlot } from './dto/schedule.responses.js';
import { ScheduledRunPipe } from './dto/scheduled-run.pipe.js';
import { ScheduleStarter } from './schedule-starter.service.js';
import { SchedulesService } from './schedules.service.js';

const tag = 'Schedules';
const path = { id: 'Identifier of the schedule' };
const ofAgent = { agentId: 'Identifier of the agent' };

@Controller()
export class SchedulesController {
  constructor(
    private readonly service: SchedulesService,
    private readonly starter: ScheduleStarter,
  ) {}

  @Operation({
    summary: 'Create a schedule',
    description:
      'Starts a run of the agent at each due time of `cron`. `run` is planned at once: what could not be started now is refused, and the response says what the platform can bill at most. A workspace can have 50.',
    tag,
    access: 'EDITOR',
    path: ofAgent,
    body: {
      type: CreateScheduleRequest,
      example: {
        name: 'Every night',
        cron: '0 2 * * *',
        timeZone: 'Europe/Berlin',
        run: { name: 'Nightly', repeat: 3 },
      },
    },
    response: { shape: 'data', type: CreatedSchedule, message: 'Schedule created successfully', status: 201 },
    errors: ['CONFLICT'],
  })
  @Post('agents/:agentId/schedules')
  createSchedule(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Body(ScheduledRunPipe) body: CreateScheduleRequest,
  ): Promise<CreatedSchedule> {
    return this.service.create(caller, agentId, body);
  }

  @Operation({
    summary: "List an agent's schedules",
    description: 'Returns the schedules of the agent, newest first.',
    tag,
    access: 'VIEWER',
    path: ofAgent,
    query: true,
    response: { shape: 'page', type: Schedule, message: 'Schedules retrieved successfully' },
  })
  @Get('agents/:agentId/schedules')
  listSchedules(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Query() query: PageQuery,
  ): Promise<Page<Schedule>> {
    return this.service.list(caller, agentId, query);
  }

  @Operation({
    summary: 'Get a schedule',
    description: 'Readable after its agent was deleted, which pauses it.',
    tag,
    access: 'VIEWER',
    path,
    response: { shape: 'data', type: Schedule, message: 'Schedule retrieved successfully' },
  })
  @Get('schedules/:id')
  getSchedule(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<Schedule> {
    return this.service.get(caller, id);
  }

  @Operation({
    summary: 'Update a schedule',
    description:
      'Changes the given fields; `run` is replaced as a whole. `enabled` pauses and resumes it. A run that is due already keeps its due time. 409 while its agent is deleted.',
    tag,
    access: 'EDITOR',
    path,
    body: { type: UpdateScheduleRequest, example: { enabled: false } },
    response: { shape: 'data', type: Schedule, message: 'Schedule updated successfully' },
    errors: ['CONFLICT'],
  })
  @Patch('schedules/:id')
  updateSchedule(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body(ScheduledRunPipe) body: UpdateScheduleRequest,
  ): Promise<Schedule> {
    return this.service.update(caller, id, body);
  }

  @Operation({
    summary: 'Delete a schedule',
    description: 'Also deletes its slots. Its runs stay, also those in progress.',
    tag,
    access: 'EDITOR',
    path,
    response: { shape: 'message', message: 'Schedule deleted successfully' },
  })
  @Delete('schedules/:id')
  deleteSchedule(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    return this.service.delete(caller, id);
  }

  @Operation({
    summary: 'Run a schedule now',
    description:
      'Starts a run of the schedule, also of a paused one, beside its due times. 409 while a run of it is in progress, and if the run could cost more than is left of `maxPaidSecondsPerDay`.',
    tag,
    access: 'EDITOR',
    path,
    response: { shape: 'data', type: RunDetails, message: 'Run started successfully', status: 201 },
    errors: ['CONFLICT'],
  })
  @Post('schedules/:id/run')
  runSchedule(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<RunDetails> {
    return this.starter.run(caller, id);
  }

  @Operation({
    summary: 'List the slots of a schedule',
    description:
      'What became of each due time: its run, or why none was started. Sorted by due time, newest first; kept for 90 days. Due times in a row that were missed, or fell into a pause, are one slot.',
    tag,
    access: 'VIEWER',
    path,
    query: true,
    response: { shape: 'page', type: ScheduleSlot, message: 'Slots retrieved successfully' },
  })
  @Get('schedules/:id/slots')
  listScheduleSlots(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: PageQuery,
  ): Promise<Page<ScheduleSlot>> {
    return this.service.slots(caller, id, query);
  }
}
