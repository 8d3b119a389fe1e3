import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { Logger } from 'pino';
import { type HttpLogger, pinoHttp } from 'pino-http';

/** One line per request when it ends: method, path, status, duration, workspace; never a header or a body. */
export function requestLog(logger: Logger): HttpLogger {
  return pinoHttp({
    logger,
    // Set by the middleware before this one, from the caller's X-Request-Id where it is fit.
    genReqId: (request) => request.id,
    wrapSerializers: false,
    serializers: {
      req: (request: IncomingMessage & { originalUrl?: string }) => ({
        id: request.id,
        method: request.method,
        // Without the query: a search can hold a phone number.
        path: (request.originalUrl ?? request.url ?? '').split('?', 1)[0],
      }),
      res: (response: ServerResponse) => ({ status: response.statusCode }),
    },
    customProps: (request: IncomingMessage) => {
      const { identity } = request as Request;
      return identity?.kind === 'caller' ? { workspaceId: identity.caller.workspaceId } : {};
    },
    customLogLevel: (request, response, error) => {
      if (error || response.statusCode >= 500) return 'error';
      // Load balancers ask every few seconds; their questions would bury everything else.
      return request.url === '/healthz' || request.url === '/readyz' ? 'debug' : 'info';
    },
    // pino-http makes up an error for every 5xx; the error filter has logged the real one under the same id.
    customErrorObject: (_request, _response, error, fields: object) => {
      return error.message.startsWith('failed with status code') ? { ...fields, err: undefined } : fields;
    },
    customSuccessMessage: (request, response) => `${request.method} ${response.statusCode}`,
    customErrorMessage: (request, response) => `${request.method} ${response.statusCode}`,
  });
}
