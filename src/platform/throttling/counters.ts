import type { ThrottlerStorage } from '@nestjs/throttler';

/** Length of the fixed window, in milliseconds; it begins with the first request in it. */
export const WINDOW_MS = 60_000;

/** State of a counter; times are in milliseconds. */
export interface Count extends Awaited<ReturnType<ThrottlerStorage['increment']>> {
  /** Unix time in seconds at which the window ends: one and the same number for all of its requests. */
  readonly resetAt: number;
}

/** The throttler's storage, with a look that does not count. */
export abstract class Counters implements ThrottlerStorage {
  /** Counts one request in the window of `key`, or in a new one of `ttl` milliseconds. Never rejects. */
  abstract increment(key: string, ttl: number, limit: number): Promise<Count>;
  /** What `increment` would have found, without counting. Never rejects. */
  abstract peek(key: string, ttl: number, limit: number): Promise<Count>;
}

export function countOf(totalHits: number, timeToExpire: number, resetAt: number, limit: number): Count {
  const isBlocked = totalHits > limit;
  return { totalHits, timeToExpire, isBlocked, timeToBlockExpire: isBlocked ? timeToExpire : 0, resetAt };
}

/** Unix time in seconds, rounded up, at which a window ends that begins now. */
export const resetAfter = (ttl: number): number => Math.ceil((Date.now() + ttl) / 1000);
