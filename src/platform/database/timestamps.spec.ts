import pg from 'pg';
import { parseTimestamp } from './timestamps.js';

const byDriver = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date | number;

describe('Timestamps of PostgreSQL', () => {
  it.each([
    ['2026-11-21 08:15:09.123456+00', '2026-11-21T08:15:09.123Z'],
    ['2026-11-21 08:15:09.120000+00', '2026-11-21T08:15:09.120Z'],
    ['2026-11-21 08:15:09.5+00', '2026-11-21T08:15:09.500Z'],
    ['2026-11-21 08:15:09.000999+00', '2026-11-21T08:15:09.000Z'],
    ['2024-02-29 23:59:59+00', '2024-02-29T23:59:59.000Z'],
    ['9999-12-31 23:59:59.999999+00', '9999-12-31T23:59:59.999Z'],
  ])('are read in UTC: %s', (text, expected) => {
    expect(parseTimestamp(text).toISOString()).toBe(expected);
    expect(byDriver(text)).toEqual(new Date(expected));
  });

  it.each([
    '2026-11-21 08:15:09.123456+02',
    '2026-11-21 08:15:09-05:30',
    '0044-03-15 12:00:00+00 BC',
    '0099-01-01 00:00:00+00',
    '10000-01-01 00:00:00+00',
    'infinity',
    '-infinity',
  ])('are left to the driver: %s', (text) => {
    expect(parseTimestamp(text)).toEqual(byDriver(text));
  });
});
