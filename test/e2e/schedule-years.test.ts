import { insertRun, insertSchedule } from '../factories/rows.js';
import { prepareSchedules } from '../support/schedules.js';
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

it('has the slots of a table written by hand, in five zones for two years: none twice, none lost', async () => {
  const { app, manager, owner, agentId, clock, starter } = await prepareSchedules({ SCHEDULE_GRACE_MINUTES: '1440' });
  const ids: string[] = [];
  for (const [timeZone, cron, ...parts] of TABLE) {
    const dueAt = new Date(expected(parts)[0]!);
    const { id } = await insertSchedule(manager, owner, agentId, { cron, timeZone, dueAt, startsAt: dueAt });
    ids.push(id);
    // Its run never ends: the slots are overlaps, which are written faster than runs.
    await insertRun(manager, owner, agentId, { scheduleId: id, status: 'RUNNING', endedAt: null });
  }
  for (clock.time = START; clock.time <= END + DAY / 2; clock.time += DAY / 2) await starter.startDue();
  for (const [at, [, , ...parts]] of TABLE.entries()) {
    const rows = await sql(
      app.databaseUrl,
      'SELECT from_at, to_at, count FROM schedule_slots WHERE schedule_id = $1 AND to_at <= $2 ORDER BY to_at',
      [ids[at], new Date(END)],
    );
    expect(rows.every(({ from_at, to_at, count }) => +from_at === +to_at && count === 1)).toBe(true);
    expect(rows.map(({ to_at }) => to_at.toISOString())).toEqual(expected(parts));
  }
  await app.close();
}, 300_000);
