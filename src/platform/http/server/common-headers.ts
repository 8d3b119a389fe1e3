import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import { API_VERSION } from '../../api-version.js';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's request id if it is safe for logs and headers, else a new one. */
export function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** Sets the headers of the contract that every response carries, except for the rate limit. */
export function setCommonHeaders(request: Request, response: Response): void {
  request.id = requestId(request.headers['x-request-id']);
  response.setHeader('X-Request-Id', request.id);
  response.setHeader('X-API-Version', API_VERSION);
  // Responses contain credentials, so no cache may store them.
  response.setHeader('Cache-Control', 'no-store');
  // Express answers it with 304 and no body, although most responses of this service have no entity tag.
  if (request.headers['if-none-match'] === '*') delete request.headers['if-none-match'];
}
