import { HAS_ALL_CASES } from '../../libs/statistics/testing/sample.js';
import { RunFinisher } from '../../src/modules/run-ends/run-finisher.service.js';
import { RunEntity } from '../../src/modules/runs/run.entity.js';
import { insertRun, insertSchedule } from '../factories/rows.js';
import { type PreparedSchedules, prepareSchedules } from '../support/schedules.js';
import { sql } from '../support/sql.js';

const DAY = 86_400_000;
const START = Date.parse('2026-01-01T00:00:00Z');
const END = Date.parse('2027-12-31T23:59:59Z');

/** Written by hand from the rules of each zone: days in UTC, first and last, and the time of the slot on each. */
const TABLE: readonly [zone: string, cron: string, ...parts: [from: string, to: string, time: string][]][] = [
  [
    ...(['Europe/Berlin', '30 2 * * *'] as const),
    ['2026-01-01', '2026-03-29', '01:30'],
    ['2026-03-30', '2026-10-25', '00:30'],
    ['2026-10-26', '2027-03-28', '01:30'],
    ['2027-03-29', '2027-10-31', '00:30'],
    ['2027-11-01', '2027-12-31', '01:30'],
  ],
  [
    ...(['America/New_York', '30 2 * * *'] as const),
    ['2026-01-01', '2026-03-08', '07:30'],
    ['2026-03-09', '2026-10-31', '06:30'],
    ['2026-11-01', '2027-03-14', '07:30'],
    ['2027-03-15', '2027-11-06', '06:30'],
    ['2027-11-07', '2027-12-31', '07:30'],
  ],
  [
    ...(['Australia/Lord_Howe', '15 2 * * *'] as const),
    ['2026-01-01', '2026-04-03', '15:15'],
    ['2026-04-04', '2026-10-03', '15:45'],
    ['2026-10-04', '2027-04-02', '15:15'],
    ['2027-04-03', '2027-10-02', '15:45'],
    ['2027-10-03', '2027-12-31', '15:15'],
  ],
  [
    ...(['America/Santiago', '0 0 * * *'] as const),
    ['2026-01-01', '2026-04-04', '03:00'],
    ['2026-04-05', '2026-09-06', '04:00'],
    ['2026-09-07', '2027-04-03', '03:00'],
    ['2027-04-04', '2027-09-05', '04:00'],
    ['2027-09-06', '2027-12-31', '03:00'],
  ],
  [...(['Asia/Kathmandu', '0 6 * * *'] as const), ['2026-01-01', '2027-12-31', '00:15']],
];

const expected = (parts: readonly [from: string, to: string, time: string][]): string[] =>
  parts.flatMap(([from, to, time]) => {
    const days: string[] = [];
    for (let day = Date.parse(from); day <= Date.parse(to); day += DAY) {
      days.push(`${new Date(day).toISOString().slice(0, 10)}T${time}:00.000Z`);
    }
    return days;
  });

/** A sample has the spring, in which four of the zones change their clocks. */
const [FIRST, LAST] = HAS_ALL_CASES ? [START, END] : [Date.parse('2026-03-01'), Date.parse('2026-04-30T23:59:59Z')];

describe('the slots of schedules in five zones, for two years', () => {
  /** Sweeps twice a day from `first` on. @returns outcome, slots and expected slots of each schedule until `last` */
  async function slotsOf(
    schedules: PreparedSchedules,
    [first, last]: readonly [number, number],
    work: { readonly created?: (id: string) => Promise<unknown>; readonly swept?: () => Promise<unknown> },
  ) {
    const { app, manager, owner, agentId, clock, starter } = schedules;
    const ids: string[] = [];
    for (const [timeZone, cron, ...parts] of TABLE) {
      const dueAt = new Date(expected(parts).find((time) => Date.parse(time) >= first)!);
      const { id } = await insertSchedule(manager, owner, agentId, {
        ...{ cron, timeZone, dueAt, startsAt: dueAt, run: { repeat: 1 } },
      });
      ids.push(id);
      await work.created?.(id);
    }
    for (clock.time = first; clock.time <= last + DAY / 2; clock.time += DAY / 2) {
      await starter.startDue();
      await work.swept?.();
    }
    return Promise.all(
      TABLE.map(async ([, , ...parts], at) => {
        const rows = await sql(
          app.databaseUrl,
          `SELECT outcome, from_at, to_at, count FROM schedule_slots WHERE schedule_id = $1 AND to_at <= $2 ORDER BY to_at`,
          [ids[at], new Date(last)],
        );
        expect(rows.every(({ from_at, to_at, count }) => +from_at === +to_at && count === 1)).toBe(true);
        const inPeriod = (time: string) => Date.parse(time) >= first && Date.parse(time) <= last;
        return {
          outcomes: [...new Set(rows.map(({ outcome }) => outcome))],
          slots: rows.map(({ to_at }) => to_at.toISOString()),
          expected: expected(parts).filter(inPeriod),
        };
      }),
    );
  }

  it('are those of a table written by hand: none twice, none lost', async () => {
    const schedules = await prepareSchedules({ SCHEDULE_GRACE_MINUTES: '1440' });
    const { app, manager, owner, agentId } = schedules;
    // Its run never ends: the slots are overlaps, which are written faster than runs.
    const created = (scheduleId: string) =>
      insertRun(manager, owner, agentId, { scheduleId, status: 'RUNNING', endedAt: null });
    for (const { outcomes, slots, expected: table } of await slotsOf(schedules, [START, END], { created })) {
      expect([outcomes, slots]).toEqual([['overlap'], table]);
    }
    await app.close();
  }, 300_000);

  it('have exactly one run each, when runs end', async () => {
    const schedules = await prepareSchedules({ SCHEDULE_GRACE_MINUTES: '1440' });
    const { app, manager } = schedules;
    const swept = async () => {
      const statement = `UPDATE calls SET status = 'ENDED', outcome = 'passed', ended_at = now() WHERE status = 'QUEUED'`;
      await sql(app.databaseUrl, statement);
      const open = await manager.findBy(RunEntity, { status: 'QUEUED' });
      for (const { id } of open) await app.nest.get(RunFinisher).finish(id);
    };
    let count = 0;
    for (const { outcomes, slots, expected: table } of await slotsOf(schedules, [FIRST, LAST], { swept })) {
      expect([outcomes, slots]).toEqual([['started'], table]);
      count += slots.length;
    }
    const [counts] = await sql(
      app.databaseUrl,
      `SELECT count(DISTINCT s.run_id)::int AS runs, count(*) FILTER (WHERE r.status = 'COMPLETED')::int AS ended
         FROM schedule_slots s JOIN runs r ON r.id = s.run_id AND r.schedule_id = s.schedule_id WHERE s.to_at <= $1`,
      [new Date(LAST)],
    );
    expect(counts).toEqual({ runs: count, ended: count });
    process.stdout.write(`${count} slots with a run each\n`);
    await app.close();
  }, 900_000);
});
