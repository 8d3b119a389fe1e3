import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { type WindowCount, WindowCounter } from './window-counter.js';

/** The throttler's record. Times are in seconds, as the throttler has them. */
export interface RateLimitRecord extends Awaited<ReturnType<ThrottlerStorage['increment']>> {
  /** Unix time in seconds at which the window ends. */
  readonly resetAt: number;
}

/** The throttler's storage; also reads a record without counting. */
@Injectable()
export class RateLimitStorage implements ThrottlerStorage {
  constructor(private readonly counter: WindowCounter) {}

  /** @param ttl length of a new window in milliseconds */
  async increment(key: string, ttl: number, limit: number): Promise<RateLimitRecord> {
    return toRecord(await this.counter.increment(key, ttl), limit);
  }

  /** The record that `increment` would have found. */
  async read(key: string, ttl: number, limit: number): Promise<RateLimitRecord> {
    return toRecord((await this.counter.read(key)) ?? { hits: 0, endsAt: Date.now() + ttl }, limit);
  }
}

function toRecord({ hits, endsAt }: WindowCount, limit: number): RateLimitRecord {
  const timeToExpire = Math.max(1, Math.ceil((endsAt - Date.now()) / 1000));
  const isBlocked = hits > limit;
  return {
    totalHits: hits,
    timeToExpire,
    isBlocked,
    timeToBlockExpire: isBlocked ? timeToExpire : 0,
    resetAt: Math.ceil(endsAt / 1000),
  };
}
