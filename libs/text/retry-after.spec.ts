import { retryAfterMs } from './index.js';

describe('retryAfterMs', () => {
  const now = Date.parse('2026-11-21T06:37:42Z');

  it.each([
    ['120', 120_000],
    ['0', 0],
    [' 7 ', 7_000],
    ['99999999999999999999999', Number.MAX_SAFE_INTEGER],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
    ['Sat, 21 Nov 2026 06:38:42 GMT', 60_000],
    ['Saturday, 21-Nov-26 06:38:42 GMT', 60_000],
    ['Sat Nov 21 06:38:42 2026 GMT', 60_000],
    ['Sat, 21 Nov 2026 06:00:00 GMT', 0],
    [undefined, undefined],
    ['', undefined],
    ['-5', undefined],
    ['1.5', 1_500],
    ['1.', undefined],
    [null, undefined],
    ['soon', undefined],
    ['2026', 2_026_000],
    ['Sat, no date', undefined],
  ])('parses %j as %p ms', (header: string | null | undefined, expected: number | undefined) => {
    expect(retryAfterMs(header, now)).toBe(expected);
  });
});
