import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { PageQuery } from '../../platform/http/dto/pagination.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { AlarmsService } from './alarms.service.js';
import { MuteAlarmsRequest } from './dto/alarm.requests.js';
import { Alarm, AlarmMute } from './dto/alarm.responses.js';

const tag = 'Schedules';
const path = { id: 'Identifier of the agent' };

@Controller('agents/:id/alarms')
export class AlarmsController {
  constructor(private readonly service: AlarmsService) {}

  @Operation({
    summary: 'List the alarms of an agent',
    description:
      'An alarm says that the newest runs of a schedule, or the newest days of production calls, are worse than those before them; each has at most one false alarm in 100 weeks. Open ones first, then the newest; kept for 400 days.',
    tag,
    access: 'VIEWER',
    path,
    query: true,
    response: { shape: 'page', type: Alarm, message: 'Alarms retrieved successfully' },
  })
  @Get()
  listAlarms(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: PageQuery,
  ): Promise<Page<Alarm>> {
    return this.service.list(caller, id, query);
  }

  @Operation({
    summary: 'Accept an alarm',
    description:
      'Ends the alarm: the results since its first run are the new normal, which later ones are compared with. Returns 409 if it has ended.',
    tag,
    access: 'EDITOR',
    path: { ...path, alarmId: 'Identifier of the alarm' },
    response: { shape: 'data', type: Alarm, message: 'Alarm accepted successfully' },
    errors: ['CONFLICT'],
  })
  @Post(':alarmId/accept')
  acceptAlarm(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Param('alarmId') alarmId: string,
  ): Promise<Alarm> {
    return this.service.accept(caller, id, alarmId);
  }

  @Operation({
    summary: 'Mute the alarms of an agent',
    description:
      'Until then, alarms are recorded and not sent. One that is still open at the end is sent then. The end of an alarm that was sent before is sent during a mute, too.',
    tag,
    access: 'EDITOR',
    path,
    body: {
      type: MuteAlarmsRequest,
      example: { until: '2099-12-31T23:59:59.000Z', reason: 'The booking backend is being moved' },
    },
    response: { shape: 'data', type: AlarmMute, message: 'Alarms muted successfully' },
  })
  @Post('mute')
  muteAlarms(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() body: MuteAlarmsRequest,
  ): Promise<AlarmMute> {
    return this.service.mute(caller, id, body);
  }
}
