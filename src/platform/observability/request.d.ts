import type { Logger } from 'pino';

declare global {
  namespace Express {
    interface Request {
      /** Sent as `X-Request-Id`, and in every log line of the request. */
      id: string;
      /** Writes log lines that name the request. */
      log: Logger;
    }
  }
}
