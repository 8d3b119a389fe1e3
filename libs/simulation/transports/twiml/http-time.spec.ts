import { HttpTime, PRELUDE_LIMITS } from './http-time.js';

describe('HttpTime', () => {
  it('gives each request its time, all of them together a minute, and then fails', async () => {
    let now = 0;
    const time = new HttpTime(() => now);
    const given: number[] = [];
    const request = (ms: number) =>
      time.spend((timeoutMs) => {
        given.push(timeoutMs);
        now += ms;
        return Promise.resolve('answer');
      });
    for (const ms of [14_000, 14_000, 14_000, 14_000]) await expect(request(ms)).resolves.toBe('answer');
    expect(given).toEqual([15_000, 15_000, 15_000, 15_000]);
    await expect(request(3_999)).resolves.toBe('answer');
    expect(given.at(-1)).toBe(4_000);
    await expect(request(5)).rejects.toMatchObject({ failure: { code: 'timeout' } });
    expect(given.at(-1)).toBe(1);
    await expect(request(0)).rejects.toMatchObject({ failure: { code: 'timeout' } });
    expect(given).toHaveLength(6);
    expect(PRELUDE_LIMITS.httpMs).toBe(60_000);
  });
});
