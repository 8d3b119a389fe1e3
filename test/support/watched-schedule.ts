import { randomUUID } from 'node:crypto';
import { AlarmNotifier } from '../../src/modules/alarms/alarm-notifier.service.js';
import { LookEntity } from '../../src/modules/alarms/look.entity.js';
import { LooksService } from '../../src/modules/alarms/looks.service.js';
import type { CaseResultEntity } from '../../src/modules/case-history/case-result.entity.js';
import { ScheduleEntity } from '../../src/modules/schedules/schedule.entity.js';
import { Clock } from '../../src/platform/clock.js';
import { Database } from '../../src/platform/database/database.js';
import { agentBody } from '../factories/bodies.js';
import { insertCaseResult, type Owner } from '../factories/rows.js';
import { HttpClient } from './http.js';
import { WITHOUT_WORKER } from './resources.js';
import { sql } from './sql.js';
import { createTestApp, type TestApp } from './test-app.js';

const DAY_MS = 24 * 3_600_000;
const WEBHOOK_TYPES = ['agent.degraded', 'agent.recovered', 'tester.unavailable'];

/** A service without a worker, whose jobs of alarms a test runs itself. */
export async function watchingApp(): Promise<TestApp> {
  return createTestApp({ env: { ...WITHOUT_WORKER, PUBLIC_URL: 'https://tests.example.com' } });
}

/** A schedule whose nights a test writes: how many calls of each case passed and failed. */
export class WatchedSchedule {
  private constructor(
    readonly app: TestApp,
    readonly client: HttpClient,
    readonly owner: Owner,
    readonly agentId: string,
    readonly id: string,
    private time: number,
  ) {}

  static async create(
    app: TestApp,
    values: Partial<ScheduleEntity> = {},
    hook = 'https://example.com/hook',
  ): Promise<WatchedSchedule> {
    const { apiKey, ...owner } = await app.createWorkspace();
    const client = new HttpClient(app.url, apiKey);
    const agentId: string = (await client.post('/agents', agentBody({ name: 'Bella Vista' }))).body.data.id;
    await client.post('/workspace/webhooks', { url: hook, events: WEBHOOK_TYPES });
    const id = randomUUID();
    const time = Date.UTC(2026, 0, 1, 2);
    await app.nest.get(Database).manager.insert(ScheduleEntity, {
      ...{ id, workspaceId: owner.workspaceId, agentId, createdByUserId: owner.userId, name: 'Every night' },
      ...{ cron: '0 2 * * *', timeZone: 'UTC', run: {}, enabled: true, resetOnVersion: false },
      ...{ maxPaidSecondsPerDay: null, heartbeatUrl: null, dueAt: new Date(time), startsAt: new Date(time) },
      ...values,
    });
    return new WatchedSchedule(app, client, owner, agentId, id, time);
  }

  /** The clock of the events. */
  get clock(): Clock {
    return this.app.nest.get(Clock);
  }

  /** Writes what an ended run of the schedule would. @returns the run's id */
  async run(cases: readonly Partial<CaseResultEntity>[], endedAt: Date): Promise<string> {
    const runId = randomUUID();
    for (const [position, values] of cases.entries()) {
      await insertCaseResult(this.app.nest.get(Database).manager, this.owner, this.agentId, {
        ...{ runId, scheduleId: this.id, endedAt, position, caseKey: `case-${position}`, name: `Case ${position}` },
        ...values,
      });
    }
    return runId;
  }

  /** Writes a run that ended a day after the previous one, and looks at it. @returns the run's id */
  async night(...cases: readonly Partial<CaseResultEntity>[]): Promise<string> {
    this.time += DAY_MS;
    const runId = await this.run(cases, new Date(this.time));
    await this.look();
    return runId;
  }

  async nights(count: number, ...cases: readonly Partial<CaseResultEntity>[]): Promise<void> {
    for (let night = 0; night < count; night++) await this.night(...cases);
  }

  /** Writes nights and their looks, without comparing them. */
  async past(count: number, ...cases: readonly Partial<CaseResultEntity>[]): Promise<void> {
    for (let night = 0; night < count; night++) {
      this.time += DAY_MS;
      const endedAt = new Date(this.time);
      await this.app.nest.get(Database).manager.insert(LookEntity, {
        ...{ id: randomUUID(), agentId: this.agentId, scheduleId: this.id, runIds: [await this.run(cases, endedAt)] },
        ...{ endedAt, agentVersion: null, isUnavailable: false, learning: null, findable: [] },
      });
    }
  }

  /** Writes a run that ended a day after the previous one, and leaves the look to a worker. */
  async endNight(...cases: readonly Partial<CaseResultEntity>[]): Promise<void> {
    this.time += DAY_MS;
    await this.run(cases, new Date(this.time));
    await this.app.nest.get(LooksService).runEnded({ scheduleId: this.id });
  }

  look(): Promise<void> {
    return this.app.nest.get(LooksService).look(this.id);
  }

  /** Runs the waiting job that sends an alarm, if there is one. The job stays, as if its process had died. */
  async remind(alarmId: string): Promise<void> {
    const [job] = await sql<{ payload: { isReminder: boolean } }>(
      this.app.databaseUrl,
      'SELECT payload FROM graphile_worker._private_jobs WHERE key = $1',
      [`alarm:${alarmId}`],
    );
    if (job) await this.app.nest.get(AlarmNotifier).remind(alarmId, job.payload.isReminder);
  }

  /** Runs the jobs of deleted schedules. @returns whose jobs they were */
  async deletions(): Promise<string[]> {
    const jobs = await sql<{ id: string; payload: { scheduleId: string } }>(
      this.app.databaseUrl,
      `SELECT j.id, p.payload FROM graphile_worker.jobs j JOIN graphile_worker._private_jobs p ON p.id = j.id
        WHERE j.task_identifier = 'schedules.deleted'`,
    );
    for (const { id, payload } of jobs) {
      await this.app.nest.get(AlarmNotifier).scheduleDeleted(payload.scheduleId);
      await sql(this.app.databaseUrl, 'SELECT graphile_worker.complete_jobs(ARRAY[$1::bigint])', [id]);
    }
    return jobs.map(({ payload }) => payload.scheduleId);
  }

  async alarms(): Promise<any[]> {
    return (await this.client.get(`/agents/${this.agentId}/alarms`)).body.data;
  }

  /** The bodies of the events about the agent, in order. */
  async events(): Promise<{ type: string; data: any }[]> {
    const rows = await sql<{ body: string }>(
      this.app.databaseUrl,
      'SELECT body FROM webhook_events WHERE agent_id = $1 ORDER BY created_at, id',
      [this.agentId],
    );
    return rows.map(({ body }) => JSON.parse(body));
  }
}
