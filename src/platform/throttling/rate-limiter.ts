import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { SETTINGS } from '../config/settings.module.js';
import type { Settings } from '../config/settings.js';
import { clientNetwork } from './client-network.js';
import { type Count, Counters, WINDOW_MS } from './counters.js';
import { ADDRESS_PREFIX } from './windows.js';

/** Who is counted, and how much of it is allowed in a window. */
export interface Budget {
  readonly key: string;
  readonly limit: number;
}

/** The state of a budget after a request. */
export interface Standing {
  readonly limit: number;
  readonly remaining: number;
  /** Unix time in seconds at which the window ends. */
  readonly reset: number;
  readonly exceeded: boolean;
  /** Whole seconds until the window ends, at least 1. */
  readonly retryAfter: number;
}

/** Counts a request against its workspace, or against its client address when it has no valid key. */
@Injectable()
export class RateLimiter {
  /** Length of a window, in milliseconds. */
  readonly windowMs: number = WINDOW_MS;

  constructor(
    private readonly counters: Counters,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  budgetOf(request: Request): Budget {
    if (request.identity?.kind === 'caller') {
      const { workspaceId, requestsPerMinute } = request.identity.caller;
      return { key: `workspace:${workspaceId}`, limit: requestsPerMinute };
    }
    return this.addressBudget(request.ip);
  }

  /** The budget of callers without a valid key: the Free rate for each client address. */
  addressBudget(ip: string | undefined): Budget {
    return { key: ADDRESS_PREFIX + clientNetwork(ip), limit: this.settings.planLimits.FREE };
  }

  /** Counts the request, sets the three headers (and `Retry-After` once the limit is exceeded). */
  async count(request: Request, response: Response): Promise<Standing> {
    const standing = await this.spend(this.budgetOf(request));
    setHeaders(response, standing);
    return standing;
  }

  /** Sets the three headers without counting the request. */
  async show(request: Request, response: Response): Promise<void> {
    const { key, limit } = this.budgetOf(request);
    setHeaders(response, {
      ...standingOf(await this.counters.peek(key, this.windowMs, limit), limit),
      exceeded: false,
    });
  }

  async spend({ key, limit }: Budget): Promise<Standing> {
    return standingOf(await this.counters.increment(key, this.windowMs, limit), limit);
  }
}

function standingOf({ totalHits, timeToExpire, isBlocked, resetAt }: Count, limit: number): Standing {
  return {
    limit,
    remaining: Math.max(0, limit - totalHits),
    reset: resetAt,
    exceeded: isBlocked,
    retryAfter: Math.max(1, Math.ceil(timeToExpire / 1000)),
  };
}

function setHeaders(response: Response, standing: Standing): void {
  response.setHeader('X-RateLimit-Limit', standing.limit);
  response.setHeader('X-RateLimit-Remaining', standing.remaining);
  response.setHeader('X-RateLimit-Reset', standing.reset);
  if (standing.exceeded) response.setHeader('Retry-After', standing.retryAfter);
}

/** The contract's headers for a standing. */
export function rateLimitHeaders({ limit, remaining, reset, exceeded, retryAfter }: Standing): Record<string, number> {
  return {
    'X-RateLimit-Limit': limit,
    'X-RateLimit-Remaining': remaining,
    'X-RateLimit-Reset': reset,
    ...(exceeded && { 'Retry-After': retryAfter }),
  };
}
