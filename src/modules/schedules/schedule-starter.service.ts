import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { Clock } from '../../platform/clock.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { isDatabaseUnavailable } from '../../platform/database/failures.js';
import { conflict, DomainError } from '../../platform/errors/domain-error.js';
import { messageOf } from '../../platform/errors/message-of.js';
import { Queue } from '../../platform/queue/queue.js';
import type { RunDetails } from '../runs/dto/run.responses.js';
import { RunStarterService } from '../starts/run-starter.service.js';
import { WebhooksService } from '../webhooks/webhooks.service.js';
import { AgentVersionService } from './agent-version.service.js';
import { dueColumns, DueTimes, startOf } from './due-times.js';
import { reasonsOf } from './run-issues.js';
import type { SlotOutcome } from './schedule-slot.entity.js';
import { type ScheduleRow, SchedulesRepository } from './schedules.repository.js';
import { SchedulesService } from './schedules.service.js';

/** How long one sweep starts runs, in milliseconds: other sweeps wait for it. */
const SWEEP_MS = 2_000;
/** Due times that one transaction settles; after a long time without the service there are more. */
const MAX_SETTLED = 500;
/** Due times in a row without a run that are reported. */
const REPORTED = 2;
const MAX_INTEGER = 2_147_483_647;
const USER_REMOVED = 'The user that created the schedule was removed from the workspace';

/** What became of due times. */
interface Result {
  readonly outcome: SlotOutcome;
  readonly runId?: string;
  readonly issues?: readonly string[];
}

/** Starts the runs of schedules that are due. */
@Injectable()
export class ScheduleStarter {
  private readonly logger = new Logger('Schedules');

  constructor(
    private readonly database: Database,
    private readonly repository: SchedulesRepository,
    private readonly schedules: SchedulesService,
    private readonly starter: RunStarterService,
    private readonly versions: AgentVersionService,
    private readonly webhooks: WebhooksService,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
    queue: Queue,
  ) {
    queue.onSweep(() => this.startDue());
  }

  /** Settles every due time until now, schedule by schedule; each in a transaction that locks it. */
  async startDue(): Promise<void> {
    const until = performance.now() + SWEEP_MS;
    const failed: string[] = [];
    let current: string | undefined;
    while (performance.now() < until) {
      try {
        current = undefined;
        const found = await this.database.transaction(async () => {
          const schedule = await this.repository.lockDue(this.clock.now(), failed);
          current = schedule?.id;
          if (schedule) await this.settle(schedule);
          return schedule !== undefined;
        });
        if (!found) return;
      } catch (error) {
        if (current === undefined || isDatabaseUnavailable(error)) throw error;
        // Tried again at the next sweep, until it is missed.
        failed.push(current);
        this.logger.error(`Schedule ${current} could not be started: ${messageOf(error)}`);
      }
    }
  }

  /**
   * Starts a run of a schedule now, whether it is paused or not.
   * @throws DomainError NOT_FOUND or FORBIDDEN for the schedule; CONFLICT if its agent was deleted, a run of it is in
   *   progress or the run cannot be started
   */
  async run(caller: Caller, id: string): Promise<RunDetails> {
    return this.database.transaction(async () => {
      const schedule = await this.schedules.lock(caller, id);
      if (await this.repository.hasOpenRun(schedule.id)) throw conflict('A run of the schedule is in progress');
      const run = await this.start(caller, schedule);
      await this.repository.advance(schedule);
      return run;
    });
  }

  /** Writes what becomes of the due times of a locked schedule, and when it is next due. */
  private async settle(schedule: ScheduleRow): Promise<void> {
    const { id, cron, timeZone, enabled, isAgentDeleted } = schedule;
    const now = this.clock.now();
    const first = schedule.dueAt.getTime();
    const due = [first];
    let next = first;
    for (const time of new DueTimes(cron, timeZone).all(first)) {
      next = time;
      if (startOf(id, time) > now || due.length === MAX_SETTLED) break;
      due.push(time);
    }
    const newest = due.at(-1)!;
    if (!enabled || isAgentDeleted) await this.record(schedule, due, { outcome: 'disabled' });
    else {
      // Of several, only the newest is started: those before it would be at the same time, and tell nothing more.
      const until = startOf(id, newest) + this.settings.scheduleGraceMinutes * 60_000;
      const isInTime = startOf(id, next) > now && now <= until;
      await this.record(schedule, isInTime ? due.slice(0, -1) : due, { outcome: 'missed' });
      if (isInTime) await this.record(schedule, [newest], await this.startSlot(schedule));
    }
    await this.repository.advance({ ...schedule, ...dueColumns(id, next) });
  }

  private async startSlot(schedule: ScheduleRow): Promise<Result> {
    if (await this.repository.hasOpenRun(schedule.id)) return { outcome: 'overlap' };
    if (!schedule.hasUser) return { outcome: 'refused', issues: [USER_REMOVED] };
    const { workspaceId, createdByUserId: userId } = schedule;
    // A revoked key does not stop a schedule: it acts for its user.
    const caller: Caller = { workspaceId, userId, role: 'EDITOR', apiKeyId: 'schedule', requestsPerMinute: 0 };
    await this.database.query('SAVEPOINT scheduled_run');
    try {
      return { outcome: 'started', runId: (await this.start(caller, schedule)).id };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      await this.database.query('ROLLBACK TO SAVEPOINT scheduled_run');
      return { outcome: 'refused', issues: reasonsOf(error) };
    }
  }

  /** Counts in `schedule` what it can cost. @throws DomainError */
  private async start(caller: Caller, schedule: ScheduleRow): Promise<RunDetails> {
    const { id, agentId, timeZone, cron, maxPaidSecondsPerDay: limit } = schedule;
    const today = new DueTimes(cron, timeZone).dayOf(this.clock.now());
    const spent = schedule.paidOn === today ? schedule.paidSeconds : 0;
    let paid = 0;
    const admit = (maxPaidSeconds: number | null): void => {
      paid = maxPaidSeconds ?? 0;
      if (limit === null || spent + paid <= limit) return;
      throw conflict(
        `The run could cost ${paid} seconds of the platform; of maxPaidSecondsPerDay (${limit}) runs of today can have used ${spent}`,
      );
    };
    const run = await this.starter.start(caller, agentId, schedule.run, { id, admit });
    Object.assign(schedule, { paidOn: today, paidSeconds: Math.min(spent + paid, MAX_INTEGER) });
    await this.versions.runStarted(run);
    return run;
  }

  /** Counts due times without a run in `schedule`, and reports the second in a row. */
  private async record(schedule: ScheduleRow, due: readonly number[], result: Result): Promise<void> {
    if (due.length === 0) return;
    const { outcome, runId = null, issues = [] } = result;
    const [fromAt, toAt] = [new Date(due[0]!), new Date(due.at(-1)!)];
    const count = due.length;
    await this.repository.record({ scheduleId: schedule.id, outcome, fromAt, toAt, count, runId, issues: [...issues] });
    const isRun = outcome === 'started' || outcome === 'disabled';
    const { notRun: before } = schedule;
    const notRun = isRun ? 0 : before + count;
    const since = before > 0 ? schedule.notRunSince : fromAt;
    Object.assign(schedule, { notRun, notRunSince: isRun ? null : since });
    if (before < REPORTED && notRun >= REPORTED) await this.report(schedule, result);
  }

  private async report(schedule: ScheduleRow, { outcome, issues = [] }: Result): Promise<void> {
    const { id, name, workspaceId, agentId, agentName, notRun, notRunSince } = schedule;
    if (outcome === 'started' || outcome === 'disabled') return;
    const since = notRunSince?.toISOString() ?? new Date(this.clock.now()).toISOString();
    const data = { scheduleId: id, scheduleName: name, agentId, agentName, since, notRun, reason: outcome, issues };
    await this.webhooks.emit({ workspaceId, agentId, type: 'schedule.not_run', data });
  }
}
