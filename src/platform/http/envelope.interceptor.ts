import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { map, type Observable } from 'rxjs';
import type { Page } from '../database/page.js';
import { pageMeta } from './pagination.js';

/** The shapes of a success body in the contract. */
export type EnvelopeShape = 'data' | 'page' | 'message';

export interface Envelope {
  readonly shape: EnvelopeShape;
  /** Absent from the list of agents, by the contract. */
  readonly message?: string | undefined;
}

const ENVELOPE = 'http:envelope';

/** What the result of the route is wrapped in. */
export const Enveloped = (envelope: Envelope) => SetMetadata(ENVELOPE, envelope);

/** Wraps what a controller returns in the contract's `message`, `data` and `meta`. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const envelope = this.reflector.get<Envelope | undefined>(ENVELOPE, context.getHandler());
    return envelope ? next.handle().pipe(map((result: unknown) => wrap(envelope, result))) : next.handle();
  }
}

function wrap({ shape, message }: Envelope, result: unknown): object {
  const head = message === undefined ? {} : { message };
  if (shape === 'message') return head;
  if (shape === 'data') return { ...head, data: result };
  const page = result as Page<unknown>;
  return { ...head, meta: pageMeta(page), data: page.items };
}
