import { nextDelay, WebhookPolicy } from './webhook-policy.js';

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
