import { RateLimiterMemory } from 'rate-limiter-flexible';
import { type Count, countOf, Counters, WINDOW_MS } from './counters.js';

/** The counters of this process alone. */
export class ProcessCounters extends Counters {
  // The limit differs from workspace to workspace, so the library only counts and the comparison is ours.
  private readonly limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW_MS / 1000 });

  async increment(key: string, _ttl: number, limit: number): Promise<Count> {
    const { consumedPoints, msBeforeNext } = await this.limiter.consume(key);
    return countOf(consumedPoints, msBeforeNext, limit);
  }

  async peek(key: string, limit: number): Promise<Count> {
    const state = await this.limiter.get(key);
    return countOf(state?.consumedPoints ?? 0, state?.msBeforeNext ?? WINDOW_MS, limit);
  }
}
