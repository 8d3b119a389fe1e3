import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Logger } from '@nestjs/common';
import { API_VERSION } from '../../api-version.js';
import { invalidInput } from '../../errors/domain-error.js';
import type { RateLimiter } from '../../throttling/rate-limiter.js';
import { errorBody } from '../responses/error-body.js';
import { mayArriveLate } from './arrival-limit.js';
import { requestId } from './common-headers.js';
import { routableTarget } from './request-line.js';

/**
 * How long data that the client still sends is read and dropped after the last response, in milliseconds: closing a
 * socket with unread data makes TCP reset the connection, and the client may lose the response (RFC 9112, section 9.6).
 */
const LINGER_MS = 2_000;

const RATE_LIMIT_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;

const ISSUES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'request headers must be at most 16 KiB',
  ERR_HTTP_REQUEST_TIMEOUT: 'request took too long to arrive',
};

/** The error of Node's `clientError` event. */
interface ClientError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** The latest request of a connection, and the response to the one before it while that is not closed. */
interface Latest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly previous: ServerResponse | undefined;
}

/**
 * Responds to what Express never sees with the error body and headers of the contract instead of Node's response:
 * malformed HTTP, timeouts and CONNECT. Call it before the server listens.
 */
export function handleProtocolErrors(server: Server, rateLimiter: RateLimiter): void {
  const latestOf = new WeakMap<Duplex, Latest>();
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    // Before Express: a target that its router cannot parse would pass no middleware at all.
    request.url = routableTarget(request.url ?? '');
    const previous = latestOf.get(request.socket)?.response;
    latestOf.set(request.socket, { request, response, previous: previous?.closed ? undefined : previous });
  });

  // The body reader sends "100 Continue"; other expectations may be ignored (RFC 9110, section 10.1.1).
  const passOn = (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response);
  server.on('checkContinue', passOn).on('checkExpectation', passOn);

  // The parser reports every further chunk of a broken connection, but only the first is answered.
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: ClientError, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    if (refused.has(socket)) return;
    const latest = latestOf.get(socket);
    // Node reports a request that takes long once.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && mayArriveLate(latest?.request)) return;
    refused.add(socket);
    const broken = latest && !latest.request.complete ? latest.response : undefined;
    const isHead = error.rawPacket?.subarray(0, 5).toString('latin1') === 'HEAD ';
    const issue = ISSUES[error.code ?? ''] ?? 'request must be valid HTTP/1.1';
    const respond = () => void refuse(socket, issue, rateLimiter, { broken, isHead });
    // Complete requests that were pipelined before the broken one get their responses first.
    const pending = broken ? latest?.previous : latest?.response;
    if (pending && !pending.closed) pending.once('close', respond);
    else respond();
  });

  // A connection that cannot be accepted is an error of the server, which goes on.
  const logger = new Logger('Http');
  server.on('error', ({ message }) => void (server.listening && logger.warn(`A connection was lost: ${message}`)));

  server.on('connect', (_request, socket) => {
    // Node no longer handles the socket; without a listener a reset connection would end the process.
    socket.on('error', () => socket.destroy());
    void refuse(socket, 'request method CONNECT is not supported', rateLimiter, { isHead: false });
  });
}

/** @param broken the response of the incomplete request, if the application has started on it */
async function refuse(
  socket: Duplex,
  issue: string,
  rateLimiter: RateLimiter,
  { broken, isHead }: { broken?: ServerResponse | undefined; isHead: boolean },
): Promise<void> {
  try {
    const rateLimit = await rateLimitHeaders(socket, broken, rateLimiter);
    // It was answered before its body had arrived.
    if (broken?.headersSent) return endGracefully(socket, '');
    const body = JSON.stringify(errorBody(invalidInput(issue)));
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
      'X-API-Version': API_VERSION,
      'X-Request-Id': requestId(broken?.getHeader('X-Request-Id')?.toString()),
      Connection: 'close',
      ...rateLimit,
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    endGracefully(socket, `HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${isHead ? '' : body}`);
  } catch {
    socket.destroy();
  }
}

/** Those of the incomplete request if it was counted already; otherwise its client address is counted. */
async function rateLimitHeaders(
  socket: Duplex,
  broken: ServerResponse | undefined,
  rateLimiter: RateLimiter,
): Promise<Record<string, unknown>> {
  if (broken?.hasHeader(RATE_LIMIT_HEADERS[0])) {
    return Object.fromEntries(RATE_LIMIT_HEADERS.map((name) => [name, broken.getHeader(name)]));
  }
  return rateLimiter.countAddress(socket instanceof Socket ? socket.remoteAddress : undefined);
}

/** Ends the writable side at once, and destroys the socket when the client has closed its side or after LINGER_MS. */
function endGracefully(socket: Duplex, data: string): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.end(data);
  socket.resume();
}
