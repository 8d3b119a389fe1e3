import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

export const API_VERSION = '1.0.0';
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's request id if it is fit for logs and headers, else a new one. */
export function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** Headers that every response carries, whatever becomes of the request. */
export function commonHeaders(request: Request, response: Response, next: NextFunction): void {
  request.id = requestId(request.headers['x-request-id']);
  response.setHeader('X-Request-Id', request.id);
  response.setHeader('X-API-Version', API_VERSION);
  // Responses hold credentials (contract): no cache on the way may keep them.
  response.setHeader('Cache-Control', 'no-store');
  // Express would answer 304 to it, with no body, although no response here has an entity tag to compare.
  if (request.headers['if-none-match'] === '*') delete request.headers['if-none-match'];
  next();
}
