import type { ThrottlerStorage } from '@nestjs/throttler';

/** Length of the fixed window, in milliseconds; it begins with the first request in it. */
export const WINDOW_MS = 60_000;

/** State of a counter; times are in milliseconds. */
export type Count = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** The throttler's storage, with a look that does not count. */
export abstract class Counters implements ThrottlerStorage {
  abstract increment(key: string, ttl: number, limit: number): Promise<Count>;
  abstract peek(key: string, limit: number): Promise<Count>;
}

export function countOf(totalHits: number, timeToExpire: number, limit: number): Count {
  const isBlocked = totalHits > limit;
  return { totalHits, timeToExpire, isBlocked, timeToBlockExpire: isBlocked ? timeToExpire : 0 };
}
