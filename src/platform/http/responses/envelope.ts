import { SetMetadata } from '@nestjs/common';

/** The shapes of a success body in the contract. */
export type EnvelopeShape = 'data' | 'page' | 'message';

export interface Envelope {
  readonly shape: EnvelopeShape;
  /** Absent from the list of agents, by the contract. */
  readonly message?: string | undefined;
  /** How an `AlternateResponse` is sent. */
  readonly alternate?: { readonly status: number; readonly message: string } | undefined;
}

/** Returned by a route instead of its usual result to send the documented alternate success. */
export class AlternateResponse {
  constructor(readonly data: unknown) {}
}

export const ENVELOPE = 'http:envelope';

/** Sets the envelope of a route; `EnvelopeInterceptor` applies it. */
export const Enveloped = (envelope: Envelope) => SetMetadata(ENVELOPE, envelope);
