import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../platform/database/database.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { listPage, type Page, type PageRequest } from '../../platform/database/page.js';
import { about, conflict, invalidInput, notFound } from '../../platform/errors/domain-error.js';
import { AgentsService } from '../agents/agents.service.js';
import type { AlarmEntity } from './alarm.entity.js';
import { scheduleOf, toFigures } from './alarm-figures.js';
import { AlarmNotifier } from './alarm-notifier.service.js';
import { AlarmsRepository, type ListedAlarm } from './alarms.repository.js';
import type { MuteAlarmsRequest } from './dto/alarm.requests.js';
import type { Alarm, AlarmMute } from './dto/alarm.responses.js';

/** The alarms of agents. */
@Injectable()
export class AlarmsService {
  constructor(
    private readonly database: Database,
    private readonly repository: AlarmsRepository,
    private readonly notifier: AlarmNotifier,
    private readonly agents: AgentsService,
    private readonly clock: Clock,
  ) {}

  /** Open alarms first. @throws DomainError NOT_FOUND or FORBIDDEN for the agent */
  async list(caller: Caller, agentId: string, query: PageRequest): Promise<Page<Alarm>> {
    await this.agents.require(caller, agentId);
    return listPage(query, toAlarm, (rows) => this.repository.page(agentId, rows));
  }

  /**
   * Ends an alarm: its looks are the new normal, which later ones are compared with.
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent; CONFLICT if the alarm has ended
   */
  async accept(caller: Caller, agentId: string, id: string): Promise<Alarm> {
    await this.agents.require(caller, agentId);
    return this.database.transaction(async () => {
      const alarm = await this.repository.lockAlarm(uuidOrNotFound(id));
      if (alarm?.agentId !== agentId.toLowerCase()) throw notFound();
      if (alarm.status !== 'open') throw conflict('The alarm has ended');
      await this.notifier.end(alarm, 'accepted', new Date(this.clock.now()));
      return toAlarm(alarm);
    });
  }

  /**
   * Alarms are recorded and not sent until then; those that are still open then are sent at that time. Null ends the mute.
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent; BAD_REQUEST
   */
  async mute(caller: Caller, agentId: string, { until, reason }: MuteAlarmsRequest): Promise<AlarmMute> {
    await this.agents.require(caller, agentId);
    const now = this.clock.now();
    const time = new Date(until ?? now);
    if (until !== null && time.getTime() <= now) throw invalidInput(about('until', 'must be in the future'));
    return this.database.transaction(async () => {
      await this.repository.mute(agentId, time, reason);
      await this.notifier.muteChanged(agentId, time);
      return { until: until === null ? null : time.toISOString(), reason };
    });
  }
}

function toAlarm(alarm: AlarmEntity | ListedAlarm): Alarm {
  const { id, workspaceId, agentId, scheduleName, status, foundAt, endedAt, sentAt, createdAt } = alarm;
  return {
    ...{ id, workspaceId, agentId, scheduleId: scheduleOf(alarm), scheduleName, status },
    ...toFigures(alarm, 'totals' in alarm ? alarm.totals : undefined),
    foundAt: foundAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    sentAt: sentAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
