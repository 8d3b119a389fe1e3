import { nextDelay, parseRetryAfter, WebhookPolicy } from './webhook-policy.js';

const policy = new WebhookPolicy();
const middle = () => 0.5;

describe('nextDelay', () => {
  it('follows the documented schedule, and ends after the tenth attempt', () => {
    const delays = Array.from({ length: 11 }, (_, i) => nextDelay(policy, i + 1, undefined, middle));
    const [second, minute, hour] = [1_000, 60_000, 3_600_000];
    expect(delays).toEqual([
      5 * second,
      5 * minute,
      30 * minute,
      2 * hour,
      5 * hour,
      10 * hour,
      14 * hour,
      20 * hour,
      24 * hour,
      undefined,
      undefined,
    ]);
  });

  it('varies by up to 10 percent in both directions', () => {
    expect(nextDelay(policy, 1, undefined, () => 0)).toBe(4_500);
    expect(nextDelay(policy, 1, undefined, () => 0.999999)).toBe(5_500);
  });

  it('respects a longer Retry-After, up to a day', () => {
    expect(nextDelay(policy, 1, 60_000, middle)).toBe(60_000);
    expect(nextDelay(policy, 1, 1_000, middle)).toBe(5_000);
    expect(nextDelay(policy, 1, Number.MAX_SAFE_INTEGER, middle)).toBe(24 * 3_600_000);
    expect(nextDelay(policy, 10, 60_000, middle)).toBeUndefined();
  });
});

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-11-21T06:37:42Z');

  it.each([
    ['120', 120_000],
    ['0', 0],
    [' 7 ', 7_000],
    ['99999999999999999999999', Number.POSITIVE_INFINITY],
    ['Sat, 21 Nov 2026 06:38:42 GMT', 60_000],
    ['Saturday, 21-Nov-26 06:38:42 GMT', 60_000],
    ['Sat Nov 21 06:38:42 2026 GMT', 60_000],
    ['Sat, 21 Nov 2026 06:00:00 GMT', 0],
    [undefined, undefined],
    ['', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['2026', 2_026_000],
    ['Sat, no date', undefined],
  ])('parses %j as %p ms', (header: string | undefined, expected: number | undefined) => {
    const delay = parseRetryAfter(header, now);
    if (expected === Number.POSITIVE_INFINITY) expect(delay).toBeGreaterThan(24 * 3_600_000);
    else expect(delay).toBe(expected);
  });
});
