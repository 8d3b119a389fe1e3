import { Body, Controller, Get, Param, Post, Put } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { BackfillRequest, Monitoring, PutMonitoringRequest } from './dto/monitoring.dtos.js';
import { MonitoringService } from './monitoring.service.js';

const tag = 'Agents';
const path = { id: 'Identifier of the agent' };

@Controller('agents/:id/monitoring')
export class MonitoringController {
  constructor(private readonly service: MonitoringService) {}

  @Operation({
    summary: 'Get the monitoring of an agent',
    description:
      'How calls that real callers had with the agent are fetched from its platform, each minute while `callMonitoring` of the agent is true.',
    tag,
    access: 'VIEWER',
    path,
    response: { shape: 'data', type: Monitoring, message: 'Monitoring retrieved successfully' },
  })
  @Get()
  getMonitoring(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<Monitoring> {
    return this.service.get(caller, id);
  }

  @Operation({
    summary: 'Set the monitoring of an agent',
    description:
      'Which calls are taken, and how they are judged, from now on; fields that are left out get their defaults. 409 for an agent of a platform without records of calls: send those with `POST /agents/{id}/calls/import`. ADMIN if the agent uses a default key, and for `recordings` `keep`.',
    tag,
    access: 'EDITOR',
    path,
    body: { type: PutMonitoringRequest, example: { samplePercent: 20, judge: true } },
    response: { shape: 'data', type: Monitoring, message: 'Monitoring updated successfully' },
    errors: ['CONFLICT'],
  })
  @Put()
  putMonitoring(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() body: PutMonitoringRequest,
  ): Promise<Monitoring> {
    return this.service.put(caller, id, body);
  }

  @Operation({
    summary: 'Fetch production calls of the past',
    description:
      'Calls that ended from a time on are fetched with the next ones; those that are known stay as they are.',
    tag,
    access: 'EDITOR',
    path,
    body: { type: BackfillRequest, example: { from: '2026-11-20T00:00:00.000Z' } },
    response: { shape: 'data', type: Monitoring, message: 'Calls of the past are fetched', status: 202 },
    errors: ['CONFLICT'],
  })
  @Post('backfill')
  backfillMonitoring(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() body: BackfillRequest,
  ): Promise<Monitoring> {
    return this.service.backfill(caller, id, body);
  }
}
