import type { RateLimiterAbstract } from 'rate-limiter-flexible';

/** Length of the fixed window in milliseconds; it starts with the first request in it. */
export const WINDOW_MS = 60_000;

/** Options of every limiter: it only counts, because the limit differs by workspace and the throttler applies it. */
export const LIMITER_OPTIONS = {
  points: Number.MAX_SAFE_INTEGER,
  duration: WINDOW_MS / 1000,
  keyPrefix: 'voice-agent-testing:rate',
} as const;

/** The count of one key in its current window. */
export interface WindowCount {
  readonly hits: number;
  /** Unix time in milliseconds. */
  readonly endsAt: number;
}

/** Counts requests by key in fixed windows. Injected by this class. */
export abstract class WindowCounter {
  /** Counts one request, in a new window of `windowMs` milliseconds if there is none. */
  abstract increment(key: string, windowMs: number): Promise<WindowCount>;
  /** The current window, or undefined if there is none. */
  abstract read(key: string): Promise<WindowCount | undefined>;
}

/** Counts with a limiter of the library. Its results have the time left, so that clocks of machines may differ. */
export class LimiterCounter extends WindowCounter {
  constructor(private readonly limiter: RateLimiterAbstract) {
    super();
  }

  async increment(key: string, windowMs: number): Promise<WindowCount> {
    const now = Date.now();
    const { consumedPoints, msBeforeNext } = await this.limiter.consume(key, 1, { customDuration: windowMs / 1000 });
    return { hits: consumedPoints, endsAt: now + msBeforeNext };
  }

  async read(key: string): Promise<WindowCount | undefined> {
    const now = Date.now();
    const result = await this.limiter.get(key);
    return result && result.msBeforeNext > 0
      ? { hits: result.consumedPoints, endsAt: now + result.msBeforeNext }
      : undefined;
  }
}
