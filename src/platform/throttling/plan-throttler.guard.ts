import { Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
} from '@nestjs/throttler';
import type { Request } from 'express';
import { DomainError } from '../errors/domain-error.js';
import { RateLimitStorage } from './rate-limit.storage.js';
import { isCountable, rateLimitHeaders } from './rate-limiter.js';

const NEVER_REFUSED = 'throttling:neverRefused';

/** The route carries the rate-limit headers but is neither counted nor refused: health checks. */
export const NeverRefused = () => SetMetadata(NEVER_REFUSED, true);

/**
 * The throttler with the contract's headers and error; limits and keys are options of the module. Its own headers give
 * the seconds left instead of a Unix time, and a refusal would only have `Retry-After`.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() private readonly storage: RateLimitStorage,
    reflector: Reflector,
  ) {
    super(options, storage, reflector);
  }

  protected override async handleRequest(request: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl, throttler, getTracker, generateKey } = request;
    const { req, res } = this.getRequestResponse(context);
    const tracker = await getTracker(req, context);
    const key = generateKey(context, tracker, throttler.name ?? 'default');
    const isNeverRefused = this.reflector.get<boolean | undefined>(NEVER_REFUSED, context.getHandler()) ?? false;
    const isCounted = !isNeverRefused && isCountable(req as Request);
    const record = await (isCounted ? this.storage.increment(key, ttl, limit) : this.storage.read(key, ttl, limit));
    for (const [name, value] of Object.entries(rateLimitHeaders(record, limit)))
      this.setResponseHeader(res, name, value);
    if (isCounted && record.isBlocked) {
      this.setResponseHeader(res, 'Retry-After', record.timeToBlockExpire);
      await this.throwThrottlingException();
    }
    return true;
  }

  protected override throwThrottlingException(): Promise<void> {
    throw new DomainError('TOO_MANY_REQUESTS');
  }
}
