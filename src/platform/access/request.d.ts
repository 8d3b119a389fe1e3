import type { Identity } from './caller.js';

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- Express types its request through this namespace.
  namespace Express {
    interface Request {
      /** Set by the identification middleware, before any guard. */
      identity?: Identity;
    }
  }
}
