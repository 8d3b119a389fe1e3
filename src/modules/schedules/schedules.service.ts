import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { OutboundClient } from '../../../libs/outbound-http/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { requireOwned } from '../../platform/access/ownership.js';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../platform/database/database.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { listPage, type Page, type PageRequest } from '../../platform/database/page.js';
import { about, conflict, invalidInput } from '../../platform/errors/domain-error.js';
import { checkUrl } from '../../platform/outbound/check-url.js';
import { defineJob } from '../../platform/queue/job.js';
import { Queue } from '../../platform/queue/queue.js';
import { AgentsService } from '../agents/agents.service.js';
import { RunStarterService } from '../starts/run-starter.service.js';
import type { CreateScheduleRequest, ScheduledRun, UpdateScheduleRequest } from './dto/schedule.requests.js';
import type { CreatedSchedule, Schedule, ScheduleSlot } from './dto/schedule.responses.js';
import { checkCron, dueColumns, DueTimes, isTimeZone } from './due-times.js';
import { ofRun } from './run-issues.js';
import { ScheduleEntity } from './schedule.entity.js';
import type { ScheduleSlotEntity } from './schedule-slot.entity.js';
import { type ScheduleRow, SchedulesRepository } from './schedules.repository.js';

/** For what later modules keep of a schedule that was deleted. */
export const SCHEDULE_DELETED = defineJob<{ readonly scheduleId: string }>({
  name: 'schedules.deleted',
  kind: 'maintenance',
});

/** Schedules of a workspace. */
const MAX_SCHEDULES = 50;

/** The schedules of agents. */
@Injectable()
export class SchedulesService {
  constructor(
    private readonly database: Database,
    private readonly repository: SchedulesRepository,
    private readonly agents: AgentsService,
    private readonly starter: RunStarterService,
    private readonly outbound: OutboundClient,
    private readonly queue: Queue,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns also what its runs can cost
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent; BAD_REQUEST; CONFLICT if the workspace has too many schedules,
   *   or the run could not be started now
   */
  async create(caller: Caller, agentId: string, input: CreateScheduleRequest): Promise<CreatedSchedule> {
    const { name, cron, timeZone, run, enabled = true, resetOnVersion = false } = input;
    const { maxPaidSecondsPerDay = null, heartbeatUrl = null } = input;
    const agent = await this.agents.describe(caller, agentId);
    const mostPerWeek = this.check(input, cron, timeZone);
    const seconds = await this.plan(caller, agent.id, run, maxPaidSecondsPerDay);
    return this.database.transaction(async (manager) => {
      await this.repository.lockWorkspace(caller.workspaceId);
      if ((await manager.countBy(ScheduleEntity, { workspaceId: caller.workspaceId })) >= MAX_SCHEDULES) {
        throw conflict(`A workspace can have at most ${MAX_SCHEDULES} schedules`);
      }
      const id = randomUUID();
      await manager.insert(ScheduleEntity, {
        ...{ id, workspaceId: caller.workspaceId, agentId: agent.id, createdByUserId: caller.userId },
        ...{ name, cron, timeZone, run, enabled, resetOnVersion, maxPaidSecondsPerDay, heartbeatUrl },
        ...this.next({ id, cron, timeZone }, this.clock.now()),
      });
      return {
        ...toSchedule((await this.repository.find(id))!),
        maxPaidSeconds: seconds,
        maxPaidMinutesPerWeek: seconds === null ? null : Math.ceil((seconds * mostPerWeek) / 60),
      };
    });
  }

  /** @throws DomainError NOT_FOUND or FORBIDDEN for the agent */
  async list(caller: Caller, agentId: string, query: PageRequest): Promise<Page<Schedule>> {
    await this.agents.require(caller, agentId);
    const read = (rows: { limit: number; offset: number }) => this.repository.page(agentId, rows);
    return listPage(query, (row: ScheduleRow) => shownTo(caller, toSchedule(row)), read);
  }

  /** @throws DomainError NOT_FOUND, or FORBIDDEN for a schedule of another workspace */
  async get(caller: Caller, id: string): Promise<Schedule> {
    return shownTo(caller, toSchedule(requireOwned(caller, await this.repository.find(uuidOrNotFound(id)))));
  }

  /** @throws DomainError as `get` does; BAD_REQUEST; CONFLICT if its agent was deleted, or the run could not be started now */
  async update(caller: Caller, id: string, changes: UpdateScheduleRequest): Promise<Schedule> {
    return this.database.transaction(async (manager) => {
      const schedule = await this.lock(caller, id);
      const { cron = schedule.cron, timeZone = schedule.timeZone, run, maxPaidSecondsPerDay } = changes;
      const isMoved = cron !== schedule.cron || timeZone !== schedule.timeZone;
      this.check(changes, isMoved ? cron : undefined, timeZone);
      if (run !== undefined || maxPaidSecondsPerDay != null) {
        const limit = maxPaidSecondsPerDay === undefined ? schedule.maxPaidSecondsPerDay : maxPaidSecondsPerDay;
        await this.plan(caller, schedule.agentId, run ?? schedule.run, limit);
      }
      const now = this.clock.now();
      // What is due already keeps its slot. Times that have one are never due again, also if the clock goes back.
      const last = (await this.repository.lastDue(schedule.id))?.getTime() ?? 0;
      const isWaiting = isMoved && schedule.dueAt.getTime() > now;
      const due = isWaiting ? this.next({ id: schedule.id, cron, timeZone }, Math.max(now, last)) : {};
      const { heartbeatUrl = schedule.heartbeatUrl } = changes;
      const heartbeat = heartbeatUrl === schedule.heartbeatUrl ? {} : { heartbeatError: null };
      await manager.update(ScheduleEntity, { id: schedule.id }, { ...changes, ...due, ...heartbeat });
      return toSchedule((await this.repository.find(schedule.id))!);
    });
  }

  /** Its runs stay; its open alarms end. @throws DomainError as `get` does */
  async delete(caller: Caller, id: string): Promise<void> {
    await this.database.transaction(async (manager) => {
      const { id: scheduleId } = await this.get(caller, id);
      await manager.delete(ScheduleEntity, { id: scheduleId });
      await this.queue.enqueue(SCHEDULE_DELETED, { scheduleId });
    });
  }

  /** The newest first. @throws DomainError as `get` does */
  async slots(caller: Caller, id: string, query: PageRequest): Promise<Page<ScheduleSlot>> {
    const schedule = await this.get(caller, id);
    return listPage(query, toSlot, (rows) => this.repository.slots(schedule.id, rows));
  }

  /** A schedule of an agent that exists, locked until the transaction ends. @throws DomainError as `get` does; CONFLICT */
  async lock(caller: Caller, id: string): Promise<ScheduleRow> {
    const schedule = requireOwned(caller, await this.repository.find(uuidOrNotFound(id), { lock: true }));
    if (schedule.isAgentDeleted) throw conflict('The agent of the schedule was deleted; restore it first');
    return schedule;
  }

  /** @param cron undefined if it is unchanged @returns the most due times in seven days @throws DomainError BAD_REQUEST */
  private check(input: UpdateScheduleRequest, cron: string | undefined, timeZone: string): number {
    if (!isTimeZone(timeZone)) {
      throw invalidInput(about('timeZone', 'must be an IANA time zone, for example Europe/Berlin'));
    }
    if (input.heartbeatUrl != null) checkUrl(this.outbound, 'heartbeatUrl', input.heartbeatUrl);
    if (cron === undefined) return 0;
    const checked = checkCron(cron, timeZone, this.clock.now());
    if ('violation' in checked) throw invalidInput(about('cron', checked.violation));
    return checked.mostPerWeek;
  }

  /** @returns the most seconds that the platform can bill for one run @throws DomainError if it could not be started now */
  private async plan(caller: Caller, agentId: string, run: ScheduledRun, limit: number | null): Promise<number | null> {
    const { maxPaidSeconds } = await ofRun(() => this.starter.plan(caller, agentId, run));
    if (limit !== null && maxPaidSeconds !== null && maxPaidSeconds > limit) {
      const text = `must be at least ${maxPaidSeconds}, the most seconds that the platform can bill for one run`;
      throw invalidInput(about('maxPaidSecondsPerDay', text));
    }
    return maxPaidSeconds;
  }

  private next({ id, cron, timeZone }: Pick<ScheduleEntity, 'id' | 'cron' | 'timeZone'>, after: number) {
    // There is one: patterns that are never due are refused.
    return dueColumns(id, new DueTimes(cron, timeZone).after(after)!);
  }
}

/** Who knows the whole address of a monitor can hide from it that the service is down. */
const shownTo = ({ role }: Caller, schedule: Schedule): Schedule =>
  role !== 'VIEWER' || schedule.heartbeatUrl === null
    ? schedule
    : { ...schedule, heartbeatUrl: `${new URL(schedule.heartbeatUrl).origin}/` };

function toSchedule(row: ScheduleRow): Schedule {
  const { id, workspaceId, agentId, createdByUserId, name, cron, timeZone, run, enabled, resetOnVersion } = row;
  const { maxPaidSecondsPerDay, heartbeatUrl, heartbeatError, isAgentDeleted, dueAt, lastRunId, createdAt, updatedAt } =
    row;
  return {
    ...{ id, workspaceId, agentId, createdByUserId, name, cron, timeZone, run, enabled, resetOnVersion },
    ...{ maxPaidSecondsPerDay, heartbeatUrl, heartbeatError },
    nextRunAt: enabled && !isAgentDeleted ? dueAt.toISOString() : null,
    lastRunId,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

function toSlot({ id, outcome, fromAt, toAt, count, runId, issues }: ScheduleSlotEntity): ScheduleSlot {
  return { id, outcome, from: fromAt.toISOString(), to: toAt.toISOString(), count, runId, issues };
}
