import type { Envelope } from '../responses/envelope.js';

declare global {
  namespace Express {
    interface Request {
      /** SHA-256 of the body as it was sent, for requests with an Idempotency-Key. */
      bodyHash?: string;
      /** What the result is still to be wrapped in. */
      envelope?: Envelope | undefined;
    }
  }
}
