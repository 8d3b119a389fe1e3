import type { Request, RequestHandler } from 'express';
import { onBehalfOf, onBehalfOfService } from '../../database/fair-pool.js';
import { invalidInput } from '../../errors/domain-error.js';
import type { Metrics } from '../../observability/metrics.js';
import type { RequestLog } from '../../observability/request-log.js';
import { setCommonHeaders } from './common-headers.js';
import { hasOneHost } from './request-line.js';

/** Sets `request.identity`; returns a promise, which never rejects, only if it has to look up the key. */
interface Identification {
  identify(request: Request): void | Promise<void>;
}

/** Runs before the router for every request: headers, log, metrics and the identity of the client. */
export function requestMiddleware(log: RequestLog, metrics: Metrics, identification: Identification): RequestHandler {
  return (request, response, next) => {
    const start = performance.now();
    setCommonHeaders(request, response);
    log.attach(request);
    response.once('close', () => {
      const milliseconds = performance.now() - start;
      log.write(request, response, milliseconds);
      metrics.observe(request, response, milliseconds);
    });
    if (!hasOneHost(request)) return next(invalidInput('Host must be given exactly once'));
    const identifying = identification.identify(request);
    if (identifying) void identifying.then(() => handle(request, next));
    else handle(request, next);
  };
}

/** Continues with the request: its database connections count as those of its workspace. */
function handle({ identity }: Request, next: () => void): void {
  if (identity?.kind === 'caller') onBehalfOf(identity.caller.workspaceId, next);
  else onBehalfOfService(next);
}
