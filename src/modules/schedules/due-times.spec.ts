import { checkCron, DueTimes, isTimeZone } from './due-times.js';

const at = (time: string) => Date.parse(time);
const next = (cron: string, zone: string, from: string, count: number) =>
  new DueTimes(cron, zone).upcoming(at(from), count).map((time) => new Date(time).toISOString().slice(0, 16));

describe('DueTimes', () => {
  it.each([
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', ['2026-03-29T01:30', '2026-03-30T00:30']],
    // Half an hour, which croner 11 moves to the end of the gap.
    ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', ['2026-10-03T15:45', '2026-10-04T15:15']],
    // Hexagon/croner#132: midnight does not exist in Chile on that day.
    ['0 0 * * *', 'America/Santiago', '2026-09-05T12:00Z', ['2026-09-06T04:00', '2026-09-07T03:00']],
    ['0 0 * * *', 'Africa/Cairo', '2026-04-23T12:00Z', ['2026-04-23T22:00', '2026-04-24T21:00']],
    ['30 1 * * *', 'Antarctica/Troll', '2026-03-28T12:00Z', ['2026-03-29T01:30', '2026-03-29T23:30']],
  ])('moves the fixed time %s in a gap of %s by as much as the clock', (cron, zone, from, times) => {
    expect(next(cron, zone, from, 2)).toEqual(times);
  });

  it('asked after the gap, still has the fixed time that was moved out of it', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-03-29T01:10Z', 1)).toEqual(['2026-03-29T01:30']);
  });

  it('leaves out times of lists and steps in a gap', () => {
    const from = '2026-03-28T12:00Z';
    expect(next('0,30 2 * * *', 'Europe/Berlin', from, 1)).toEqual(['2026-03-30T00:00']);
    expect(next('*/15 2 * * *', 'Europe/Berlin', from, 1)).toEqual(['2026-03-30T00:00']);
    expect(next('*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:20Z', 3)).toEqual([
      '2026-03-29T00:30',
      '2026-03-29T01:00',
      '2026-03-29T01:30',
    ]);
  });

  // kelektiv/node-cron#563, vatesfr/xen-orchestra#4024: a job at a fixed time ran twice.
  it('runs a fixed time that occurs twice at the first', () => {
    const times = ['2026-10-25T00:30', '2026-10-26T01:30'];
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 2)).toEqual(times);
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30Z', 1)).toEqual(times.slice(1));
    expect(next('0 1,2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 3)).toEqual([
      '2026-10-24T23:00',
      '2026-10-25T00:00',
      '2026-10-26T00:00',
    ]);
  });

  // kelektiv/node-cron#881, Steve-Mcl/node-red-contrib-cron-plus#108: nothing ran for an hour.
  it('runs steps and * in both hours that the clock repeats', () => {
    expect(next('*/30 * * * *', 'Australia/Melbourne', '2024-04-06T14:40Z', 6)).toEqual([
      '2024-04-06T15:00',
      '2024-04-06T15:30',
      '2024-04-06T16:00',
      '2024-04-06T16:30',
      '2024-04-06T17:00',
      '2024-04-06T17:30',
    ]);
    expect(next('30 */2 * * *', 'Europe/Berlin', '2026-10-24T23:00Z', 3)).toEqual([
      '2026-10-25T00:30',
      '2026-10-25T01:30',
      '2026-10-25T03:30',
    ]);
    expect(next('50 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z', 2)).toEqual([
      '2026-04-04T14:50',
      '2026-04-05T15:20',
    ]);
  });

  // cronitorio/cronitor-kubernetes#42, josiahcarlson/parse-crontab#49.
  it('is due on the days of the month and on those of the week, as in POSIX', () => {
    expect(next('0 0 13 * FRI', 'UTC', '2026-01-01T00:00Z', 3)).toEqual([
      '2026-01-02T00:00',
      '2026-01-09T00:00',
      '2026-01-13T00:00',
    ]);
  });

  it('never goes back: each due time is later than the one before, in every zone', () => {
    for (const zone of [
      'Europe/Berlin',
      'Australia/Lord_Howe',
      'America/Santiago',
      'Asia/Kathmandu',
      'Africa/Casablanca',
    ]) {
      for (const cron of ['0 */3 * * *', '45 1 * * *', '17 0-4 * * *']) {
        const times = new DueTimes(cron, zone).upcoming(at('2026-03-01T00:00Z'), 300);
        expect(times.every((time, n) => n === 0 || time > times[n - 1]!)).toBe(true);
      }
    }
  });
});

describe('checkCron', () => {
  const checked = (cron: string, zone = 'Europe/Berlin') => checkCron(cron, zone, at('2026-01-01T00:00Z'));
  const violation = (cron: string) => (checked(cron) as { violation?: string }).violation;

  it.each([
    '0 2 * * *',
    '*/5 * * * *',
    '0 2 * * MON-fri',
    '0 0 1 JAN,jul *',
    '0 0 29 2 *',
    ' 0  2 * * 7 ',
    '10-50/20 8-18 * * 1-5',
  ])('accepts %s', (cron) => expect(violation(cron)).toBeUndefined());

  it.each([
    ...['', '@daily', '* * * *', '0 0 2 * * *', '0 0 L * *', '0 0 1W * *', '0 0 * * 5#2', '0 0 ? * *', '0 0 * * +1'],
    ...['5/15 * * * *', '1,,2 * * * *', '-1 * * * *', '0 0 MON * *', '0 0 * * MONDAY', '٣ 2 * * *', 'H 2 * * *'],
  ])('refuses %s, which does not have five fields', (cron) =>
    expect(violation(cron)).toMatch(/^must have five fields/),
  );

  it.each(['60 * * * *', '0 24 * * *', '0 0 0 * *', '*/0 * * * *', '5-1 * * * *', '0 22-2 * * *', '0 0 * * FRI-MON'])(
    'refuses %s with the reason',
    (cron) => expect(violation(cron)).toMatch(/^must be valid: .+/),
  );

  it.each([
    ['0 2 * * *', 7],
    ['*/5 * * * *', 2016],
    ['0 2 * * 1-5', 5],
    ['0 0 29 2 *', 1],
    ['0 * * * *', 168],
  ])('says of %s that it is due at most %i times a week', (cron, mostPerWeek) => {
    expect(checked(cron, 'UTC')).toEqual({ mostPerWeek });
  });

  it('refuses what is never due, and what is due too often', () => {
    expect(violation('0 0 31 2 *')).toBe('must have a next time: it is never due');
    expect(violation('* * * * *')).toBe('must leave at least 5 minutes between its runs');
    expect(violation('0,4 2 * * *')).toBe('must leave at least 5 minutes between its runs');
    expect(violation('*/7 * * * *')).toBe('must leave at least 5 minutes between its runs');
  });
});

describe('isTimeZone', () => {
  it('knows names of IANA, and no offsets', () => {
    expect(['Europe/Berlin', 'UTC', 'Asia/Calcutta'].every(isTimeZone)).toBe(true);
    expect(['+02:00', 'Berlin', '', 'CEST', 'Europe/Berlin '].some(isTimeZone)).toBe(false);
  });
});
