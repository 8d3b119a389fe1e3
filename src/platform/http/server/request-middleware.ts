import type { Request, RequestHandler } from 'express';
import { onBehalfOf, onBehalfOfService } from '../../database/fair-pool.js';
import { invalidInput, unavailable } from '../../errors/domain-error.js';
import { begin } from '../../observability/activity.js';
import type { Metrics } from '../../observability/metrics.js';
import type { Readiness } from '../../observability/readiness.js';
import { isHealthCheck, type RequestLog } from '../../observability/request-log.js';
import { setCommonHeaders } from './common-headers.js';
import { hasOneHost } from './request-line.js';

/** Sets `request.identity`; returns a promise, which never rejects, only if it has to look up the key. */
interface Identification {
  identify(request: Request): void | Promise<void>;
}

/** Runs before the router for every request: headers, log, metrics and the identity of the client. */
export function requestMiddleware(
  log: RequestLog,
  metrics: Metrics,
  readiness: Readiness,
  identification: Identification,
): RequestHandler {
  return (request, response, next) => {
    const start = performance.now();
    setCommonHeaders(request, response);
    const ended = begin(log.attach(request));
    response.once('close', () => {
      ended();
      const milliseconds = performance.now() - start;
      log.write(request, response, milliseconds);
      metrics.observe(request, response, milliseconds);
    });
    if (!hasOneHost(request)) return next(invalidInput('Host must be given exactly once'));
    // Only a failing process still accepts connections while it ends: it does not begin what it would lose.
    if (readiness.failure !== undefined && !isHealthCheck(request)) return next(unavailable());
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
