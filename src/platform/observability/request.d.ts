import type { Logger } from 'pino';

declare global {
  namespace Express {
    interface Request {
      /** By which the logs and the client know it. */
      id: string;
      /** Writes lines that name the request. */
      readonly log: Logger;
    }
  }
}
