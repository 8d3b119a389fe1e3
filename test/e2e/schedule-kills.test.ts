import { sample, shareOf } from '../../libs/statistics/testing/sample.js';
import { Database } from '../../src/platform/database/database.js';
import { RunEntity } from '../../src/modules/runs/run.entity.js';
import { ScheduleEntity } from '../../src/modules/schedules/schedule.entity.js';
import { ScheduleStarter } from '../../src/modules/schedules/schedule-starter.service.js';
import { insertSchedule } from '../factories/rows.js';
import { runMortalWorkers } from '../support/mortal-workers.js';
import { WITHOUT_WORKER } from '../support/resources.js';
import { type PreparedSchedules, prepareSchedules } from '../support/schedules.js';
import { sql } from '../support/sql.js';
import { createTestApp } from '../support/test-app.js';

const SLOTS = shareOf(500);
const WORKERS = 3;
/** More than a transaction that starts a run has. */
const STEPS = 20;

/** One schedule for each slot, all due at once. */
async function prepareSlots(due: Date): Promise<PreparedSchedules> {
  const schedules = await prepareSchedules();
  const { app, manager, owner, agentId } = schedules;
  const { id } = await insertSchedule(manager, owner, agentId, { run: { repeat: 1 }, dueAt: due, startsAt: due });
  await sql(
    app.databaseUrl,
    `INSERT INTO schedules SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
       FROM schedules s, generate_series(2, $2::integer) WHERE id = $1`,
    [id, SLOTS],
  );
  return schedules;
}

/** Checks that each slot has exactly one run. */
async function expectOneRunEach({ app, manager }: PreparedSchedules, due: Date): Promise<void> {
  const statement = 'SELECT schedule_id, outcome, run_id FROM schedule_slots WHERE to_at = $1';
  const slots = await sql(app.databaseUrl, statement, [due]);
  const runs = await manager.find(RunEntity, { select: { id: true, scheduleId: true } });
  expect(slots).toHaveLength(SLOTS);
  expect(new Set(slots.map(({ outcome }) => outcome))).toEqual(new Set(['started']));
  expect(runs.map(({ id }) => id).sort()).toEqual(slots.map(({ run_id }) => run_id).sort());
  expect(new Set(runs.map(({ scheduleId }) => scheduleId)).size).toBe(SLOTS);
}

const aMinuteAgo = () => new Date(Math.floor(Date.now() / 60_000) * 60_000 - 60_000);

// NousResearch/hermes-agent#68211: a process died between a run and its next due time, and the run was repeated.
it(`starts exactly one run for each of ${SLOTS} slots by ${WORKERS} worker processes that are killed with SIGKILL at each step, and whose COMMIT is not answered`, async () => {
  const due = aMinuteAgo();
  const schedules = await prepareSlots(due);
  const marker = 's.starts_at <= $1';
  const steps = sample(Array.from({ length: STEPS }, (_, at) => at + 1));
  const deaths = [...steps, 'after COMMIT' as const];
  const { died, cut } = await runMortalWorkers(
    schedules.app,
    deaths.map((step) => ({ marker, step, skip: 1 })),
    async () => (await schedules.manager.countBy(ScheduleEntity, { dueAt: due })) === 0,
  );
  process.stdout.write(`${died.sort().join('\n')}\n`);
  expect(died.filter((where) => !where.startsWith('killed '))).toEqual([]);
  expect([died.length, cut > 0]).toEqual([deaths.length, true]);
  await expectOneRunEach(schedules, due);
  await schedules.app.close();
}, 1_200_000);

it(`starts exactly one run for each of ${SLOTS} slots by ${WORKERS} workers that lose their connection at each step`, async () => {
  const due = aMinuteAgo();
  const schedules = await prepareSlots(due);
  const { app, manager, starter } = schedules;
  const { databaseUrl } = app;
  const others = await Promise.all(
    Array.from({ length: WORKERS - 1 }, () => createTestApp({ env: WITHOUT_WORKER, databaseUrl })),
  );
  schedules.clock.time = due.getTime() + 90_000;

  /** Its connection ends in the middle of a transaction, and the process goes on. Every second transaction of each. */
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

  await expectOneRunEach(schedules, due);
  expect(kills.size).toBeGreaterThan(10);
  process.stdout.write(`Killed at steps ${[...kills].map(([step, n]) => `${step}: ${n}`).join(', ')}\n`);
  for (const other of others) await other.close();
  await app.close();
}, 300_000);
