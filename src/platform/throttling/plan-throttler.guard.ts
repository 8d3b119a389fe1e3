import { type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  ThrottlerStorage,
} from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { DomainError } from '../errors/domain-error.js';
import { RateLimiter } from './rate-limiter.js';

const NEVER_REFUSED = 'throttling:neverRefused';

/** The route carries the rate-limit headers but is neither counted nor refused: health checks. */
export const NeverRefused = () => SetMetadata(NEVER_REFUSED, true);

/**
 * One limit per workspace over all routes, by plan tier, instead of the throttler's default of one per route and
 * address; and the contract's headers instead of the throttler's.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly rateLimiter: RateLimiter,
  ) {
    super(options, storage, reflector);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    if (this.reflector.get<boolean | undefined>(NEVER_REFUSED, context.getHandler())) {
      await this.rateLimiter.show(request, response);
      return true;
    }
    const { exceeded } = await this.rateLimiter.count(request, response);
    if (exceeded) throw new DomainError('TOO_MANY_REQUESTS');
    return true;
  }
}
