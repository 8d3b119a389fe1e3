import type { Socket } from 'node:net';
import { invalidInput } from '../errors/domain-error.js';
import { type RateLimiter, rateLimitHeaders } from '../throttling/rate-limiter.js';
import { API_VERSION, requestId } from './common-headers.middleware.js';
import { errorBody } from './error-body.js';

/** How long a client may take for its headers, and for the whole request, in milliseconds. */
export const HEADERS_TIMEOUT_MS = 15_000;
export const REQUEST_TIMEOUT_MS = 30_000;

const CAUSES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'request headers must be at most 16 KiB',
  ERR_HTTP_REQUEST_TIMEOUT: `request must arrive within ${REQUEST_TIMEOUT_MS / 1000} s`,
};

/**
 * Answers what Node's parser could not make a request of. Express never sees it, and Node's own answer has neither the
 * error body nor the headers of the contract.
 */
export function answerUnparsable(rateLimiter: RateLimiter) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const issue = CAUSES[error.code ?? ''] ?? 'request must be valid HTTP/1.1';
    rateLimiter.spend(rateLimiter.addressBudget(socket.remoteAddress)).then(
      (standing) => {
        const body = JSON.stringify(errorBody(invalidInput(issue)));
        const headers = {
          'Content-Type': 'application/json; charset=utf-8',
          'Content-Length': Buffer.byteLength(body),
          'X-API-Version': API_VERSION,
          'X-Request-Id': requestId(undefined),
          Connection: 'close',
          ...rateLimitHeaders({ ...standing, exceeded: false }),
        };
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${body}`);
      },
      () => socket.destroy(),
    );
  };
}
