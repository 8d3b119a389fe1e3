import { randomUUID } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { ScheduleEntity } from '../../src/modules/schedules/schedule.entity.js';
import { ScheduleStarter } from '../../src/modules/schedules/schedule-starter.service.js';
import { SchedulesModule } from '../../src/modules/schedules/schedules.module.js';
import { Clock } from '../../src/platform/clock.js';
import { Database } from '../../src/platform/database/database.js';
import { agentBody } from '../factories/bodies.js';
import { insertEvaluation, type Owner } from '../factories/rows.js';
import { HttpClient } from './http.js';
import { WITHOUT_WORKER } from './resources.js';
import { createTestApp, type TestApp } from './test-app.js';

/** A service without a worker, whose schedules start runs when a test says so, at the time that it sets. */
export interface PreparedSchedules {
  readonly app: TestApp;
  readonly client: HttpClient;
  readonly owner: Owner;
  readonly agentId: string;
  readonly clock: { time: number };
  readonly starter: ScheduleStarter;
  readonly manager: EntityManager;
}

export async function prepareSchedules(env: NodeJS.ProcessEnv = {}): Promise<PreparedSchedules> {
  const app = await createTestApp({ env: { ...WITHOUT_WORKER, ...env } });
  const { apiKey, ...owner } = await app.createWorkspace();
  const client = new HttpClient(app.url, apiKey);
  const agentId: string = (await client.post('/agents', agentBody({ name: 'Bella Vista' }))).body.data.id;
  const { manager } = app.nest.get(Database);
  await insertEvaluation(manager, owner, agentId);
  const clock = { time: Date.now() };
  const inSchedules = app.nest.select(SchedulesModule);
  inSchedules.get(Clock, { strict: true }).now = () => clock.time;
  return { app, client, owner, agentId, clock, manager, starter: inSchedules.get(ScheduleStarter) };
}

/** A schedule without an evaluation to run. */
export async function insertSchedule(
  manager: EntityManager,
  { workspaceId, userId }: Owner,
  agentId: string,
  values: Partial<ScheduleEntity> = {},
): Promise<ScheduleEntity> {
  return manager.save(
    manager.create(ScheduleEntity, {
      ...{ id: randomUUID(), workspaceId, agentId, createdByUserId: userId, ...scheduleBody() },
      ...{ enabled: true, resetOnVersion: false, maxPaidSecondsPerDay: null, heartbeatUrl: null },
      ...{ dueAt: new Date(), startsAt: new Date() },
      ...values,
    }),
  );
}

export const scheduleBody = (values: object = {}) => ({
  name: 'Every night',
  cron: '0 2 * * *',
  timeZone: 'Europe/Berlin',
  run: { name: 'Nightly', repeat: 2 },
  ...values,
});
