import type { Identity } from './caller.js';

declare global {
  namespace Express {
    interface Request {
      /** Set by the identification middleware, before any guard. */
      identity?: Identity;
    }
  }
}
