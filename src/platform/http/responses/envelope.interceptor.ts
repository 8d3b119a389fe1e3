import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import type { Page } from '../../database/page.js';
import { pageMeta } from '../dto/pagination.js';
import { AlternateResponse, ENVELOPE, type Envelope } from './envelope.js';

/** Wraps what a controller returns in the contract's `message`, `data` and `meta`, by the route's `@Enveloped`. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const envelope = this.reflector.get<Envelope | undefined>(ENVELOPE, context.getHandler());
    if (!envelope) return next.handle();
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((result: unknown) => wrap(envelope, result, response)));
  }
}

function wrap({ shape, message, alternate }: Envelope, result: unknown, response: Response): object {
  if (alternate && result instanceof AlternateResponse) {
    response.status(alternate.status);
    return { message: alternate.message, data: result.data };
  }
  const head = message === undefined ? {} : { message };
  if (shape === 'message') return head;
  if (shape === 'data') return { ...head, data: result };
  const page = result as Page<unknown>;
  return { ...head, meta: pageMeta(page), data: page.items };
}
