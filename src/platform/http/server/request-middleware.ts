import type { RequestHandler, Request } from 'express';
import { invalidInput } from '../../errors/domain-error.js';
import type { Metrics } from '../../observability/metrics.js';
import type { RequestLog } from '../../observability/request-log.js';
import { commonHeaders } from './common-headers.js';
import { hasOneHost } from './request-line.js';

/** Finds out who calls; what it returns is waited for. */
interface Identification {
  identify(request: Request): void | Promise<void>;
}

/**
 * What every request passes before the router. One middleware, since each that Express and Nest call costs more than
 * what most of this does.
 */
export function requestMiddleware(log: RequestLog, metrics: Metrics, identification: Identification): RequestHandler {
  return (request, response, next) => {
    const began = performance.now();
    commonHeaders(request, response);
    response.once('close', () => {
      const milliseconds = performance.now() - began;
      log.write(request, response, milliseconds);
      metrics.observe(request, response, milliseconds);
    });
    if (!hasOneHost(request)) return next(invalidInput('Host must be given exactly once'));
    const identifying = identification.identify(request);
    if (identifying) void identifying.then(() => next());
    else next();
  };
}
