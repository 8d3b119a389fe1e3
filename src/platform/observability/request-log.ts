import type { Request, Response } from 'express';
import type { Logger } from 'pino';

/** The request as it is logged: never a header or a body. */
function shown({ id, method, originalUrl }: Request) {
  // Without the query: a search can hold a phone number.
  return { id, method, path: originalUrl.split('?', 1)[0] };
}

/** One line per request when it ends: method, path, status, duration, workspace. */
export class RequestLog {
  constructor(private readonly logger: Logger) {}

  /**
   * Gives all requests a `log` that names the request. It is made for whoever writes to it: most never do.
   * @param prototype of the requests
   */
  addTo(prototype: object): void {
    const { logger } = this;
    Object.defineProperty(prototype, 'log', {
      configurable: true,
      get(this: Request): Logger {
        return logger.child({ req: shown(this) });
      },
    });
  }

  /** @param milliseconds that the request took */
  write(request: Request, response: Response, milliseconds: number): void {
    const { statusCode: status } = response;
    const level = levelOf(request, status);
    if (!this.logger.isLevelEnabled(level)) return;
    const { identity } = request;
    this.logger[level](
      {
        req: shown(request),
        ...(identity?.kind === 'caller' && { workspaceId: identity.caller.workspaceId }),
        res: { status },
        responseTime: Math.round(milliseconds),
      },
      `${request.method} ${status}`,
    );
  }
}

function levelOf({ url }: Request, status: number): 'debug' | 'info' | 'error' {
  if (status >= 500) return 'error';
  // Load balancers ask every few seconds; their questions would bury everything else.
  return url === '/healthz' || url === '/readyz' ? 'debug' : 'info';
}
