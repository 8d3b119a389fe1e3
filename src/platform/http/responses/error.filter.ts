import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isDatabaseUnavailable } from '../../database/failures.js';
import { DomainError, invalidInput, notFound, unavailable } from '../../errors/domain-error.js';
import { isHealthCheck } from '../../observability/request-log.js';
import { RateLimiter } from '../../throttling/rate-limiter.js';
import { errorBody } from './error-body.js';
import { STATUS_OF } from './error-status.js';

/** `Retry-After` in seconds of errors that soon pass, unless the header is set: a rate limit knows its time. */
const RETRY_AFTER_SECONDS = 1;

/** Turns anything that was thrown into the contract's error body; details of unexpected errors never leave the process. */
@Injectable()
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly rateLimiter: RateLimiter) {}

  async catch(exception: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const error = toDomainError(exception);
    if (error.code === 'INTERNAL_SERVER_ERROR' || error.code === 'SERVICE_UNAVAILABLE') {
      // A process that starts or ends is not ready either, and sets off no alert on lines of level error.
      const level = error.cause === undefined && isHealthCheck(request) ? 'debug' : 'error';
      request.log[level]({ err: error.cause ?? exception }, error.message);
    }
    // A response that has started can only be cut off, so that the client does not take it for a complete one.
    if (response.headersSent) return void response.destroy();
    // Errors before the guards, for example a second Host header, have no rate-limit headers yet.
    if (!response.hasHeader('X-RateLimit-Limit'))
      await this.rateLimiter.count(request, response).catch(() => undefined);
    if (error.code === 'UNAUTHORIZED') response.setHeader('WWW-Authenticate', 'Bearer');
    const soonPasses = error.code === 'SERVICE_UNAVAILABLE' || error.code === 'TOO_MANY_REQUESTS';
    if (soonPasses && !response.hasHeader('Retry-After'))
      response.setHeader('Retry-After', error.retryAfterSeconds ?? RETRY_AFTER_SECONDS);
    response.status(STATUS_OF[error.code]).json(errorBody(error));
  }
}

/** Maps an exception to a domain error; an unknown one becomes INTERNAL_SERVER_ERROR with the exception as cause. */
export function toDomainError(exception: unknown): DomainError {
  if (exception instanceof DomainError) return exception;
  if (isDatabaseUnavailable(exception)) return unavailable(exception);
  // Thrown by Nest and Express for requests that reach no route.
  const status = exception instanceof HttpException ? exception.getStatus() : undefined;
  if (status === 404) return notFound();
  if (status !== undefined && status >= 400 && status < 500) return invalidInput('request cannot be understood');
  return new DomainError('INTERNAL_SERVER_ERROR', undefined, undefined, { cause: exception });
}
