import { WINDOW_MS } from './counters.js';
import { ProcessCounters } from './process-counters.js';
import { ADDRESS_PREFIX, Windows } from './windows.js';

describe('ProcessCounters', () => {
  beforeEach(() => jest.useFakeTimers({ now: Date.parse('2026-03-01T12:00:00.400Z') }));
  afterEach(() => jest.useRealTimers());

  const hit = (counters: ProcessCounters, key = 'workspace:a', limit = 2) => counters.increment(key, WINDOW_MS, limit);

  it('counts a window from its first request, and one more does not make it longer', async () => {
    const counters = new ProcessCounters();
    const first = await hit(counters);
    jest.advanceTimersByTime(59_000);
    const second = await hit(counters);
    jest.advanceTimersByTime(999);
    const third = await hit(counters);
    jest.advanceTimersByTime(1);
    const next = await hit(counters);

    expect([first, second, third, next].map(({ totalHits }) => totalHits)).toEqual([1, 2, 3, 1]);
    expect([first, second, third, next].map(({ isBlocked }) => isBlocked)).toEqual([false, false, true, false]);
    expect([first, second, third].map(({ timeToExpire }) => timeToExpire)).toEqual([60_000, 1_000, 1]);
  });

  it('gives every request of a window one and the same end, whenever it comes', async () => {
    const counters = new ProcessCounters();
    const ends = new Set<number>();
    for (let passed = 0; passed < WINDOW_MS; passed += 70) {
      ends.add((await hit(counters)).resetAt);
      jest.advanceTimersByTime(70);
    }
    expect(ends).toEqual(new Set([Date.parse('2026-03-01T12:01:01Z') / 1000]));
  });

  it('keeps a window as long as it is when the clock is set', async () => {
    const counters = new ProcessCounters();
    await hit(counters);
    jest.setSystemTime(Date.parse('2020-01-01T00:00:00Z'));
    expect((await hit(counters)).totalHits).toBe(2);
    jest.setSystemTime(Date.parse('2030-01-01T00:00:00Z'));
    expect((await hit(counters)).totalHits).toBe(3);
    jest.advanceTimersByTime(WINDOW_MS);
    expect((await hit(counters)).totalHits).toBe(1);
  });

  it('looks without counting', async () => {
    const counters = new ProcessCounters();
    expect(await counters.peek('workspace:a', WINDOW_MS, 2)).toMatchObject({ totalHits: 0, isBlocked: false });
    const { resetAt } = await hit(counters);
    jest.advanceTimersByTime(500);
    const expected = { totalHits: 1, isBlocked: false, timeToExpire: 59_500, resetAt };
    expect(await counters.peek('workspace:a', WINDOW_MS, 2)).toMatchObject(expected);
    expect((await hit(counters)).totalHits).toBe(2);
  });

  it('keeps a bounded number of addresses, and every workspace', async () => {
    const windows = new Windows(1000);
    const counters = new ProcessCounters(windows);
    await hit(counters, 'workspace:a');
    for (let index = 0; index < 10_000; index += 1) {
      await hit(counters, `${ADDRESS_PREFIX}${index}`);
      expect(windows.size).toBeLessThanOrEqual(1001);
    }
    expect((await hit(counters, `${ADDRESS_PREFIX}9600`)).totalHits).toBe(2);
    expect((await hit(counters, 'workspace:a')).totalHits).toBe(2);
  });

  it('forgets windows that have ended, and none before', async () => {
    const windows = new Windows();
    const counters = new ProcessCounters(windows);
    for (let index = 0; index < 100; index += 1) await hit(counters, `workspace:${index}`);
    jest.advanceTimersByTime(WINDOW_MS - 1);
    await hit(counters, 'workspace:late');
    jest.advanceTimersByTime(1);
    await hit(counters, 'workspace:later');
    expect((await hit(counters, 'workspace:late')).totalHits).toBe(2);
    jest.advanceTimersByTime(WINDOW_MS);
    await hit(counters, 'workspace:last');
    expect(windows.size).toBe(2);
  });
});
