import { sample } from '../../libs/statistics/testing/sample.js';
import { runMortalWorkers } from '../support/mortal-workers.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { sql } from '../support/sql.js';
import type { TestApp } from '../support/test-app.js';
import { watchingApp, WatchedSchedule } from '../support/watched-schedule.js';

jest.setTimeout(580_000);

const SCHEDULES = 6;
const GOOD = { passed: 20, failed: 0 };
const BAD = { passed: 13, failed: 7 };
/** The first statements of the transactions. */
const LOOK = `hashtextextended('looks:'`;
const REMINDER = 'FROM alarms a WHERE a.id = $1 FOR UPDATE';

describe('worker processes that are killed with SIGKILL at each step, and whose COMMIT is not answered', () => {
  let app: TestApp;
  let receiver: Receiver;
  let schedules: WatchedSchedule[];

  beforeAll(async () => {
    [app, receiver] = [await watchingApp(), await startReceiver()];
    const never = new Date('2099-01-01T00:00:00Z');
    schedules = await Promise.all(
      Array.from({ length: SCHEDULES }, () =>
        WatchedSchedule.create(app, { dueAt: never, startsAt: never }, receiver.url),
      ),
    );
    for (const schedule of schedules) await schedule.past(25, GOOD);
    await each((schedule) => schedule.night(BAD));
  });
  afterAll(async () => {
    await app.close();
    await receiver.close();
  });

  const each = async (work: (schedule: WatchedSchedule) => Promise<unknown>) => {
    for (const schedule of schedules) await work(schedule);
  };
  const delivered = () => new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size;
  /** @param steps at least as many as the transaction has @param events of each schedule when it is done */
  const run = async (task: string, marker: string, steps: number, events: number) => {
    const deaths = [...sample(Array.from({ length: steps }, (_, at) => at + 1)), 'after COMMIT' as const];
    const due = `SELECT FROM graphile_worker.jobs WHERE task_identifier = $1 AND run_at <= now()`;
    const { died, cut } = await runMortalWorkers(
      app,
      deaths.map((step) => ({ marker, step })),
      async () => (await sql(app.databaseUrl, due, [task])).length === 0 && delivered() >= SCHEDULES * events,
    );
    process.stdout.write(`${task}\n${died.join('\n')}\n`);
    expect(died.filter((where) => !where.startsWith('killed '))).toEqual([]);
    expect([died.length, cut > 0]).toEqual([deaths.length, true]);
  };
  const expectEach = async (status: string, ...types: string[]) => {
    for (const schedule of schedules) {
      expect((await schedule.alarms()).map((alarm) => alarm.status)).toEqual([status]);
      const events = (await schedule.events()).map(({ type, data }) =>
        [type, data.isReminder ?? data.endedBy].join(' '),
      );
      expect(events).toEqual(types);
    }
    expect(delivered()).toBe(SCHEDULES * types.length);
  };

  it('raise one alarm and send one event for each fall', async () => {
    await each((schedule) => schedule.endNight(BAD));
    await run('alarms.look', LOOK, 20, 1);
    await expectEach('open', 'agent.degraded false');
    const looks = await sql(app.databaseUrl, 'SELECT schedule_id, count(*)::int FROM looks GROUP BY 1');
    expect(looks.map(({ count }) => count)).toEqual(Array(SCHEDULES).fill(27));
  });

  it('send one reminder for each alarm', async () => {
    await sql(app.databaseUrl, `UPDATE graphile_worker._private_jobs SET run_at = now() WHERE key LIKE 'alarm:%'`);
    await run('alarms.remind', REMINDER, 10, 2);
    await expectEach('open', 'agent.degraded false', 'agent.degraded true');
  });

  it('end each alarm once when it recovers', async () => {
    await each((schedule) => schedule.nights(4, GOOD));
    await each((schedule) => schedule.endNight(GOOD));
    await run('alarms.look', LOOK, 16, 3);
    await expectEach('recovered', 'agent.degraded false', 'agent.degraded true', 'agent.recovered recovered');
  });
});
