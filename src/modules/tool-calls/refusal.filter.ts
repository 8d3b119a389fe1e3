import { type ArgumentsHost, Catch, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { DomainError } from '../../platform/errors/domain-error.js';
import { ErrorFilter } from '../../platform/http/responses/error.filter.js';
import { stillInProgress } from '../../platform/idempotency/idempotency.interceptor.js';
import { RateLimiter } from '../../platform/throttling/rate-limiter.js';
import { ToolCallsService } from './tool-calls.service.js';

/** Lets a call know that a report of its was refused: a filter, because a rate limit refuses before the body is read. */
@Injectable()
@Catch()
export class RefusalFilter extends ErrorFilter {
  constructor(
    rateLimiter: RateLimiter,
    private readonly service: ToolCallsService,
  ) {
    super(rateLimiter);
  }

  override async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<Request>();
    const { callId } = (request.body ?? {}) as { readonly callId?: unknown };
    const caller = request.identity?.kind === 'caller' ? request.identity.caller : undefined;
    // Without the database nothing can be noted, and the answer says that the report is not stored.
    // The other request with its Idempotency-Key reports the same.
    const isReported = error instanceof DomainError && error.message === stillInProgress().message;
    if (caller && !isReported) await this.service.refuse(caller, callId, error).catch(() => undefined);
    return super.catch(error, host);
  }
}
