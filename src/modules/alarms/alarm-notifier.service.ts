import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { defineJob } from '../../platform/queue/job.js';
import { Queue } from '../../platform/queue/queue.js';
import { SCHEDULE_DELETED } from '../schedules/schedules.service.js';
import { WebhooksService } from '../webhooks/webhooks.service.js';
import { AlarmEntity, type AlarmStatus } from './alarm.entity.js';
import { AlarmsRepository } from './alarms.repository.js';
import { type NewAlarm, scheduleOf, toFigures } from './alarm-figures.js';

const REMINDER_MS = 24 * 3_600_000;

/** Sends an alarm that is still open: for the first time after its agent was muted, or as a reminder. */
const REMIND = defineJob<{ readonly alarmId: string; readonly isReminder: boolean }>({
  name: 'alarms.remind',
  kind: 'webhooks',
});

/** Writes alarms and sends their events. */
@Injectable()
export class AlarmNotifier {
  constructor(
    private readonly database: Database,
    private readonly repository: AlarmsRepository,
    private readonly webhooks: WebhooksService,
    private readonly queue: Queue,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    queue.handle(REMIND, ({ alarmId, isReminder }) => this.remind(alarmId, isReminder));
    queue.handle(SCHEDULE_DELETED, ({ scheduleId }) => this.scheduleDeleted(scheduleId));
  }

  /** Writes a new alarm, and sends it unless its agent is muted. */
  async raise(alarm: NewAlarm): Promise<void> {
    await this.database.manager.insert(AlarmEntity, alarm);
    await this.send(alarm, false);
  }

  /** Ends an alarm; its end is sent if it was sent itself, also to a muted agent: who has an open incident must close it. */
  async end(alarm: AlarmEntity, status: Exclude<AlarmStatus, 'open'>, now: Date): Promise<void> {
    Object.assign(alarm, { status, endedAt: now });
    const { overFrom, endedAt } = alarm;
    await this.database.manager.update(AlarmEntity, { id: alarm.id }, { status, overFrom, endedAt });
    if (alarm.sentAt !== null) {
      const { workspaceId, agentId } = alarm;
      const data = { ...(await this.dataOf(alarm)), endedBy: status };
      await this.webhooks.emit({ workspaceId, agentId, type: 'agent.recovered', data });
    }
  }

  /** Ends the open alarms of a deleted schedule, since no later look can. */
  async scheduleDeleted(scheduleId: string): Promise<void> {
    await this.database.transaction(async () => {
      // A look that began before may still raise one.
      await this.repository.lockSchedule(scheduleId);
      const now = new Date(this.clock.now());
      for (const alarm of await this.repository.ofSchedule(scheduleId)) {
        if (alarm.status === 'open') await this.end(alarm, 'schedule_deleted', now);
      }
    });
  }

  /** Sends alarms that were muted until now, and reminders that are due by then, at the end of the new mute. */
  async muteChanged(agentId: string, until: Date): Promise<void> {
    for (const { id, sentAt } of await this.repository.waiting(agentId)) {
      const reminder = sentAt === null ? 0 : sentAt.getTime() + REMINDER_MS;
      await this.sendAt(id, sentAt !== null, new Date(Math.max(until.getTime(), reminder)));
    }
  }

  /** Does nothing once the alarm is over, or if it was sent so before: the job of a process that died is repeated. */
  async remind(alarmId: string, isReminder: boolean): Promise<void> {
    await this.database.transaction(async () => {
      const alarm = await this.repository.lockAlarm(alarmId);
      if (alarm?.status !== 'open' || alarm.remindedAt !== null || isReminder !== (alarm.sentAt !== null)) return;
      await this.send(alarm, isReminder);
    });
  }

  private async send(alarm: NewAlarm, isReminder: boolean): Promise<void> {
    const now = this.clock.now();
    const mutedUntil = await this.repository.mutedUntil(alarm.agentId, new Date(now));
    if (mutedUntil) return this.sendAt(alarm.id, isReminder, mutedUntil);
    const { workspaceId, agentId } = alarm;
    const data = { ...(await this.dataOf(alarm)), isReminder };
    await this.webhooks.emit({ workspaceId, agentId, type: 'agent.degraded', data });
    const sent = isReminder ? { remindedAt: new Date(now) } : { sentAt: new Date(now) };
    await this.database.manager.update(AlarmEntity, { id: alarm.id }, sent);
    if (!isReminder) await this.sendAt(alarm.id, true, new Date(now + REMINDER_MS));
  }

  private sendAt(alarmId: string, isReminder: boolean, runAt: Date): Promise<void> {
    return this.queue.enqueue(REMIND, { alarmId, isReminder }, { runAt, jobKey: `alarm:${alarmId}` });
  }

  /** What both events of an alarm say. */
  private async dataOf(alarm: NewAlarm) {
    const { publicUrl } = this.settings;
    return {
      ...{ alarmId: alarm.id, agentId: alarm.agentId, agentName: await this.repository.nameOfAgent(alarm.agentId) },
      ...{ scheduleId: scheduleOf(alarm), scheduleName: alarm.scheduleName },
      ...toFigures(alarm),
      reportUrl: publicUrl === undefined ? null : `${publicUrl}/runs/${alarm.sinceRunId}/report`,
    };
  }
}
