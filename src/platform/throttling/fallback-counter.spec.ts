import { Logger } from '@nestjs/common';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { FallbackCounter } from './fallback-counter.js';
import { LIMITER_OPTIONS, LimiterCounter, type WindowCounter } from './window-counter.js';

const memory = () => new LimiterCounter(new RateLimiterMemory(LIMITER_OPTIONS));

describe('FallbackCounter', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  let shared: WindowCounter;
  let counter: FallbackCounter;

  beforeEach(() => {
    warn.mockClear();
    shared = memory();
    counter = new FallbackCounter(shared, memory());
  });

  afterAll(() => warn.mockRestore());

  it('counts in the shared counter', async () => {
    await counter.increment('a', 60_000);
    expect(await shared.read('a')).toMatchObject({ hits: 1 });
  });

  it('counts in this process while the shared counter does not respond, and warns once', async () => {
    jest.spyOn(shared, 'increment').mockRejectedValue(new Error('no answer'));
    jest.spyOn(shared, 'read').mockRejectedValue(new Error('no answer'));
    await counter.increment('a', 60_000);
    expect(await counter.increment('a', 60_000)).toMatchObject({ hits: 2 });
    expect(await counter.read('a')).toMatchObject({ hits: 2 });
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('returns to the shared counter as soon as it responds', async () => {
    jest.spyOn(shared, 'increment').mockRejectedValueOnce(new Error('no answer'));
    await counter.increment('a', 60_000);
    expect(await counter.increment('a', 60_000)).toMatchObject({ hits: 1 });
    expect(await shared.read('a')).toMatchObject({ hits: 1 });
  });
});
