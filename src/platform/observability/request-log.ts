import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import type { Activity } from './activity.js';

/** Logs one line per request when it ends: method, path, status, duration in milliseconds, workspace. */
export class RequestLog {
  constructor(private readonly logger: Logger) {}

  /**
   * Gives the request a `log` whose lines name it; never a header or a body.
   * @returns the same names
   */
  attach(request: Request): Activity {
    const { id, method, originalUrl } = request;
    const names = { req: { id, method, path: loggedPath(originalUrl) } };
    request.log = this.logger.child(names);
    return names;
  }

  /** @param milliseconds duration of the request */
  write(request: Request, response: Response, milliseconds: number): void {
    const { statusCode: status } = response;
    const { identity } = request;
    request.log[levelOf(request, status)](
      {
        ...(identity?.kind === 'caller' && { workspaceId: identity.caller.workspaceId }),
        res: { status },
        responseTime: Math.round(milliseconds),
      },
      `${request.method} ${status}`,
    );
  }
}

/**
 * Without the query, since a search can hold a phone number, and without the token of a report link, also if a proxy
 * adds a path before it. No identifier has the length of a token.
 */
const loggedPath = (url: string): string =>
  (url.split('?', 1)[0] ?? '').replace(/^(\/+(?:reports|pages)\/+).+/is, '$1[redacted]').replace(TOKEN, '[redacted]');

/** At least 32 bytes in base64url. */
const TOKEN = /[\w-]{43,}/g;

/** Whether a load balancer or an orchestrator asks for the state of this process. */
export const isHealthCheck = ({ url }: Request): boolean => url === '/healthz' || url === '/readyz';

function levelOf(request: Request, status: number): 'debug' | 'info' | 'error' {
  // 503 is the answer of a health check, not a fault; its cause, if it is one, has a line of its own.
  if (status >= 500 && !(status === 503 && isHealthCheck(request))) return 'error';
  // Load balancers poll every few seconds; at info these lines would bury all others.
  return isHealthCheck(request) ? 'debug' : 'info';
}
