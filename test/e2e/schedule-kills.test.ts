import { Database } from '../../src/platform/database/database.js';
import { RunEntity } from '../../src/modules/runs/run.entity.js';
import { ScheduleEntity } from '../../src/modules/schedules/schedule.entity.js';
import { ScheduleStarter } from '../../src/modules/schedules/schedule-starter.service.js';
import { insertSchedule } from '../factories/rows.js';
import { WITHOUT_WORKER } from '../support/resources.js';
import { prepareSchedules } from '../support/schedules.js';
import { sql } from '../support/sql.js';
import { createTestApp } from '../support/test-app.js';

const SLOTS = 500;
const WORKERS = 3;

it(`starts exactly one run for each of ${SLOTS} slots by ${WORKERS} workers whose transactions are killed at each of their steps`, async () => {
  const schedules = await prepareSchedules();
  const { app, manager, owner, agentId, starter } = schedules;
  const { databaseUrl } = app;
  const others = await Promise.all(
    Array.from({ length: WORKERS - 1 }, () => createTestApp({ env: WITHOUT_WORKER, databaseUrl })),
  );
  const due = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 120_000);
  const { id } = await insertSchedule(manager, owner, agentId, { run: { repeat: 1 }, dueAt: due, startsAt: due });
  await sql(
    databaseUrl,
    `INSERT INTO schedules SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
       FROM schedules s, generate_series(2, $2::integer) WHERE id = $1`,
    [id, SLOTS],
  );
  schedules.clock.time = due.getTime() + 90_000;

  /** What a dead process leaves: its connection ends in the middle of a transaction. Every second transaction of each. */
  const kills = new Map<number, number>();
  const kill = (database: Database) => {
    const original = database.query.bind(database);
    let [step, target, count] = [0, 1, 0];
    database.query = async (...query: Parameters<Database['query']>) => {
      if (!database.isInTransaction) return original(...query);
      if (query[0].includes('SKIP LOCKED')) step = 0;
      step++;
      if (step === target && query[0] !== '' && count++ % 2 === 0) {
        kills.set(step, (kills.get(step) ?? 0) + 1);
        await original('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
      }
      if (query[0].includes('UPDATE schedules SET due_at')) target = step === target ? 1 : target + 1;
      return original<never>(...query);
    };
  };
  const workers = [starter, ...others.map(({ nest }) => nest.get(ScheduleStarter))];
  for (const { nest } of [app, ...others]) kill(nest.get(Database));

  const left = () => manager.countBy(ScheduleEntity, { dueAt: due });
  while ((await left()) > 0) await Promise.allSettled(workers.map((worker) => worker.startDue()));

  const slots = await sql(databaseUrl, 'SELECT schedule_id, outcome, run_id FROM schedule_slots WHERE to_at = $1', [
    due,
  ]);
  const runs = await manager.find(RunEntity, { select: { id: true, scheduleId: true } });
  expect(slots).toHaveLength(SLOTS);
  expect(new Set(slots.map(({ outcome }) => outcome))).toEqual(new Set(['started']));
  expect(runs.map(({ id }) => id).sort()).toEqual(slots.map(({ run_id }) => run_id).sort());
  expect(new Set(runs.map(({ scheduleId }) => scheduleId)).size).toBe(SLOTS);
  expect(kills.size).toBeGreaterThan(10);
  process.stdout.write(`Killed at steps ${[...kills].map(([step, n]) => `${step}: ${n}`).join(', ')}\n`);
  for (const other of others) await other.close();
  await app.close();
}, 300_000);
