import type { EntityManager } from 'typeorm';
import { ScheduleStarter } from '../../src/modules/schedules/schedule-starter.service.js';
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
  app.nest.get(Clock).now = () => clock.time;
  return { app, client, owner, agentId, clock, manager, starter: app.nest.get(ScheduleStarter) };
}
