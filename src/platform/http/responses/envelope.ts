import { SetMetadata } from '@nestjs/common';
import type { Response } from 'express';
import type { Page } from '../../database/page.js';
import { pageMeta } from '../dto/pagination.js';

/** The shapes of a success body in the contract. */
export type EnvelopeShape = 'data' | 'page' | 'message';

export interface Envelope {
  readonly shape: EnvelopeShape;
  /** Absent from the list of agents, by the contract. */
  readonly message?: string | undefined;
  /** How an `AlternateResponse` is sent. */
  readonly alternate?: { readonly status: number; readonly message: string } | undefined;
}

/** What a route returns instead of its usual result: the documented other success. */
export class AlternateResponse {
  constructor(readonly data: unknown) {}
}

export const ENVELOPE = 'http:envelope';

/** What the result of the route is wrapped in. */
export const Enveloped = (envelope: Envelope) => SetMetadata(ENVELOPE, envelope);

/** Wraps what a controller returns in the contract's `message`, `data` and `meta`. */
export function wrap({ shape, message, alternate }: Envelope, result: unknown, response: Response): object {
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
