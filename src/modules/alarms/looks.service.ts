import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type Fall,
  type Fallen,
  findableFalls,
  findFalls,
  learning,
  recoveredFrom,
} from '../../../libs/statistics/index.js';
import { Database } from '../../platform/database/database.js';
import { inBatches } from '../../platform/queue/in-batches.js';
import { defineJob } from '../../platform/queue/job.js';
import { Queue } from '../../platform/queue/queue.js';
import { WebhooksService } from '../webhooks/webhooks.service.js';
import type { RunEntity } from '../runs/run.entity.js';
import { AlarmEntity } from './alarm.entity.js';
import { scheduleOf } from './alarm-figures.js';
import { AlarmNotifier } from './alarm-notifier.service.js';
import { AlarmsRepository, looksToRead, type PendingRun, type WatchedSchedule } from './alarms.repository.js';
import { LookEntity } from './look.entity.js';
import { LookHistory } from './look-history.js';

/** A look of which a larger share of calls could not be judged shows the tester, not the agent. */
const MAX_NOT_JUDGED = 1 / 5;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long after it a day of production calls can still be fetched. */
const LATE_DAYS = 40;

const LOOK = defineJob<{ readonly scheduleId: string }>({ name: 'alarms.look', kind: 'maintenance' });
/** Deletes old looks and alarms. Daily. */
const PRUNE = defineJob<object>({ name: 'alarms.prune', kind: 'maintenance', cron: '51 4 * * *' });

/** Compares the newest runs of a schedule with those before them. */
@Injectable()
export class LooksService {
  constructor(
    private readonly database: Database,
    private readonly repository: AlarmsRepository,
    private readonly notifier: AlarmNotifier,
    private readonly webhooks: WebhooksService,
    private readonly queue: Queue,
  ) {
    queue.handle(LOOK, ({ scheduleId }) => this.look(scheduleId));
    queue.handle(PRUNE, async (_, { signal }) => {
      await inBatches(() => this.repository.prune(), signal);
    });
  }

  /** Looks at a run of a schedule, or a day of production calls (then the agent's id), once the caller's transaction, which ends the run, is committed. */
  async runEnded({ scheduleId }: Pick<RunEntity, 'scheduleId'>): Promise<void> {
    if (scheduleId !== null) await this.queue.enqueue(LOOK, { scheduleId });
  }

  /**
   * Makes a look of the runs of a schedule that belong to none, unless there was one in the same hour: later ones join the next
   * look. Each day of production calls is a look of its own. Ends alarms that are over, and raises new ones; all in one transaction.
   */
  async look(scheduleId: string): Promise<void> {
    await this.database.transaction(async (manager) => {
      const schedule = await this.repository.lockSchedule(scheduleId);
      if (!schedule) return;
      const last = await this.repository.newest(scheduleId, new Date(0));
      const isProduction = scheduleId === schedule.agentId;
      const lastAt = last?.endedAt.getTime() ?? 0;
      const pending = await this.repository.pending(
        scheduleId,
        new Date(lastAt - (isProduction ? LATE_DAYS : 1) * DAY_MS),
      );
      const newest = pending.at(-1);
      if (!newest || (!isProduction && last && hourOf(last.endedAt) >= hourOf(newest.endedAt))) return;
      let look = { id: '', isUnavailable: last?.isUnavailable ?? false };
      for (const runs of isProduction ? pending.map((run) => [run]) : [pending]) {
        look = await this.add(schedule, runs, look.isUnavailable);
      }
      // Earlier days that were fetched late are compared with at the next look.
      if (last && last.endedAt > newest.endedAt) return;
      const results = isProduction ? newest.results : sum(pending.map((run) => run.results));
      await manager.update(
        LookEntity,
        { id: look.id },
        await this.compare(schedule, newest.endedAt, looksToRead(results)),
      );
    });
  }

  /** Writes a look, and reports the tester if the look before, `wasUnavailable`, could be judged and this one could not. */
  private async add(
    schedule: WatchedSchedule,
    runs: readonly PendingRun[],
    wasUnavailable: boolean,
  ): Promise<Pick<LookEntity, 'id' | 'isUnavailable'>> {
    const newest = runs.at(-1)!;
    const notJudged = sum(runs.map((run) => run.notJudged));
    const calls = notJudged + sum(runs.map(({ counted }) => counted));
    const look = {
      ...{ id: randomUUID(), agentId: schedule.agentId, scheduleId: schedule.id },
      runIds: runs.map(({ runId }) => runId),
      endedAt: newest.endedAt,
      agentVersion: runs.findLast(({ agentVersion }) => agentVersion !== null)?.agentVersion ?? null,
      isUnavailable: notJudged > MAX_NOT_JUDGED * calls,
      ...{ learning: null, findable: [] },
    };
    await this.database.manager.insert(LookEntity, look);
    if (look.isUnavailable && !wasUnavailable)
      await this.reportTester(schedule, { runId: newest.runId, calls, notJudged });
    return look;
  }

  /** @param limit of looks that are read @returns what alarms can find now */
  private async compare(
    schedule: WatchedSchedule,
    now: Date,
    limit: number,
  ): Promise<Pick<LookEntity, 'learning' | 'findable'>> {
    const looks = await this.repository.looks(schedule.id, limit);
    const entries = await this.repository.entries(schedule.id, limit);
    const alarms = await this.repository.ofSchedule(schedule.id);
    const history = new LookHistory(looks, entries, alarms, schedule.resetOnVersion);
    for (const alarm of alarms) if (alarm.status === 'open') await this.endIfOver(alarm, history, now);
    const cases = history.compared();
    // Otherwise an alarm from before an update of the service would hide every later fall.
    const open = alarms.filter((alarm) => alarm.status === 'open' && history.isComparable(alarm));
    const inWeek = (await this.repository.newest(schedule.id, now))?.inWeek ?? 1;
    const falls = findFalls(cases, inWeek, open);
    for (const fall of falls) await this.raise(schedule, fall, history);
    const fallen = [...open.map((alarm) => ({ ...alarm, from: history.positionOf(alarm.since) })), ...falls];
    const before = Math.min(...fallen.flatMap(({ measure, from }) => (measure === 'passed' ? from : [])));
    return { learning: learning(cases) ?? null, findable: findableFalls(cases, inWeek, before) };
  }

  private async endIfOver(alarm: AlarmEntity, history: LookHistory, now: Date): Promise<void> {
    const after = history.after(alarm);
    const from = recoveredFrom(alarm, after.cases);
    const { versionSince } = history;
    const leftAt = history.leftAt(alarm);
    if (versionSince && versionSince > alarm.foundAt) {
      await this.notifier.end(Object.assign(alarm, { overFrom: versionSince }), 'new_version', now);
    } else if (from !== undefined) {
      await this.notifier.end(Object.assign(alarm, { overFrom: after.looks[from]!.endedAt }), 'recovered', now);
    } else if (leftAt) {
      await this.notifier.end(Object.assign(alarm, { overFrom: leftAt }), 'case_removed', now);
    }
  }

  private async raise(schedule: WatchedSchedule, fall: Fall & Fallen, history: LookHistory): Promise<void> {
    const first = history.looks[fall.from]!;
    await this.notifier.raise({
      id: randomUUID(),
      ...{ workspaceId: schedule.workspaceId, agentId: schedule.agentId },
      ...{ scheduleId: schedule.id, scheduleName: schedule.name },
      ...{ measure: fall.measure, caseKey: fall.caseKey, looks: fall.looks, pValue: fall.pValue },
      cases: fall.cases.map((one) => ({ ...one, ...history.newestOf(one.caseKey) })),
      ...{ since: first.endedAt, sinceRunId: first.runIds.at(-1)!, foundAt: history.looks.at(-1)!.endedAt },
      ...{ status: 'open', overFrom: null, endedAt: null, sentAt: null, remindedAt: null },
    });
  }

  private async reportTester(
    { id, name: scheduleName, workspaceId, agentId, agentName }: WatchedSchedule,
    judged: { readonly runId: string; readonly calls: number; readonly notJudged: number },
  ): Promise<void> {
    const scheduleId = scheduleOf({ scheduleId: id, agentId });
    const data = { agentId, agentName, scheduleId, scheduleName, ...judged };
    await this.webhooks.emit({ workspaceId, agentId, type: 'tester.unavailable', data });
  }
}

const hourOf = (time: Date): number => Math.floor(time.getTime() / HOUR_MS);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
