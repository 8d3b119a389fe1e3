import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import helmet from 'helmet';
import { API_VERSION } from '../../api-version.js';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's request id if it is fit for logs and headers, else a new one. */
export function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** Headers that every response carries, whatever becomes of the request. */
export function commonHeaders(request: Request, response: Response): void {
  request.id = requestId(request.headers['x-request-id']);
  response.setHeader('X-Request-Id', request.id);
  for (const [name, value] of FIXED_HEADERS) response.setHeader(name, value);
  // Express would answer 304 to it, with no body, although no response here has an entity tag to compare.
  if (request.headers['if-none-match'] === '*') delete request.headers['if-none-match'];
}

/** Those of them that do not depend on the request: helmet is asked once for its own, not for every response. */
const FIXED_HEADERS: ReadonlyMap<string, string> = (() => {
  const headers = new Map([
    ['X-API-Version', API_VERSION],
    // Responses hold credentials (contract): no cache on the way may keep them.
    ['Cache-Control', 'no-store'],
  ]);
  const setHeader = (name: string, value: string) => headers.set(name, value);
  const response = { setHeader, removeHeader: (name: string) => headers.delete(name) };
  const security = helmet({
    contentSecurityPolicy: { directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] }, useDefaults: false },
  });
  security({} as Request, response as unknown as Response, (error) => {
    if (error) throw error as Error;
  });
  return headers;
})();
