import type { Request, Response } from 'express';
import type { Logger } from 'pino';

/** Logs one line per request when it ends: method, path, status, duration in milliseconds, workspace. */
export class RequestLog {
  constructor(private readonly logger: Logger) {}

  /** Gives the request a `log` whose lines name it; never a header or a body. */
  attach(request: Request): void {
    const { id, method, originalUrl } = request;
    request.log = this.logger.child({ req: { id, method, path: loggedPath(originalUrl) } });
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
  (url.split('?', 1)[0] ?? '').replace(/^(\/+reports\/+).+/is, '$1[redacted]').replace(TOKEN, '[redacted]');

/** At least 32 bytes in base64url. */
const TOKEN = /[\w-]{43,}/g;

function levelOf({ url }: Request, status: number): 'debug' | 'info' | 'error' {
  if (status >= 500) return 'error';
  // Load balancers poll every few seconds; at info these lines would bury all others.
  return url === '/healthz' || url === '/readyz' ? 'debug' : 'info';
}
