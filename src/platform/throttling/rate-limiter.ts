import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { SETTINGS } from '../config/settings.module.js';
import type { Settings } from '../config/settings.js';
import { clientNetwork } from './client-network.js';
import { type RateLimitRecord, RateLimitStorage } from './rate-limit.storage.js';
import { WINDOW_MS } from './window-counter.js';

/** What a request is counted against. */
export interface RateLimitBucket {
  readonly key: string;
  /** Requests allowed in a window. */
  readonly limit: number;
}

/** The contract's headers. */
export type RateLimitHeaders = Readonly<Record<string, number>>;

/** Which bucket a request belongs to; counts those that are refused before routing. */
@Injectable()
export class RateLimiter {
  /** Length of a window in milliseconds. */
  readonly windowMs: number = WINDOW_MS;

  constructor(
    private readonly storage: RateLimitStorage,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** The bucket of the caller's workspace; without a valid key, that of the client address at the Free rate. */
  bucketOf(request: Request): RateLimitBucket {
    if (request.identity?.kind === 'caller') {
      const { workspaceId, requestsPerMinute } = request.identity.caller;
      return { key: `workspace:${workspaceId}`, limit: requestsPerMinute };
    }
    return this.addressBucket(request.ip);
  }

  /** Counts a request that the guard will not see, and sets its headers. */
  async count(request: Request, response: Response): Promise<void> {
    const { key, limit } = this.bucketOf(request);
    const headers = isCountable(request)
      ? await this.consume({ key, limit })
      : rateLimitHeaders(await this.storage.read(key, this.windowMs, limit), limit);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  }

  /** Counts something that never became a request, against the address it came from. */
  countAddress(ip: string | undefined): Promise<RateLimitHeaders> {
    return this.consume(this.addressBucket(ip));
  }

  private addressBucket(ip: string | undefined): RateLimitBucket {
    return { key: `address:${clientNetwork(ip)}`, limit: this.settings.planLimits.FREE };
  }

  private async consume({ key, limit }: RateLimitBucket): Promise<RateLimitHeaders> {
    return rateLimitHeaders(await this.storage.increment(key, this.windowMs, limit), limit);
  }
}

/**
 * Whether it is known what to count the request against. While the database is unreachable, a valid key cannot be told from
 * any other: it gets 503, which counting against its address would soon turn into 429.
 */
export const isCountable = ({ identity }: Request): boolean => identity?.kind !== 'unknown';

export const rateLimitHeaders = ({ totalHits, resetAt }: RateLimitRecord, limit: number): RateLimitHeaders => ({
  'X-RateLimit-Limit': limit,
  'X-RateLimit-Remaining': Math.max(0, limit - totalHits),
  'X-RateLimit-Reset': resetAt,
});
