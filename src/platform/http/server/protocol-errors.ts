import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Socket } from 'node:net';
import { API_VERSION } from '../../api-version.js';
import { invalidInput } from '../../errors/domain-error.js';
import type { RateLimiter } from '../../throttling/rate-limiter.js';
import { requestId } from './common-headers.js';
import { errorBody } from '../responses/error-body.js';
import { routableTarget } from './request-line.js';

/**
 * How long what a client still sends is read and dropped after its last answer: closing on unread data makes TCP reset
 * the connection, and the client may lose the answer (RFC 9112, section 9.6).
 */
const LINGER_MS = 2_000;

const RATE_LIMIT_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;

const CAUSES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'request headers must be at most 16 KiB',
  ERR_HTTP_REQUEST_TIMEOUT: 'request took too long to arrive',
};

/** What Node says of a connection that it cannot go on with. */
interface ClientError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** The latest request of a connection, and the response before it. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly before: ServerResponse | undefined;
}

/**
 * Makes Node's server, made with SERVER_OPTIONS, give none of its own answers: they have neither the error body nor the
 * headers of the contract. To be called before the server listens.
 */
export function handleProtocolErrors(server: Server, rateLimiter: RateLimiter): void {
  const toApplication = (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response);
  // The body interceptor sends "100 Continue" once it wants the body; other expectations may be ignored
  // (RFC 9110, section 10.1.1).
  server.on('checkContinue', toApplication);
  server.on('checkExpectation', toApplication);

  const exchanges = new WeakMap<Duplex, Exchange>();
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    // Before Express sees it: a target that its router cannot parse would pass no middleware at all.
    request.url = routableTarget(request.url ?? '');
    const before = exchanges.get(request.socket)?.response;
    // What nobody waits for any more is let go.
    exchanges.set(request.socket, { request, response, before: before?.closed ? undefined : before });
  });
  const refusals = new Refusals(rateLimiter);
  server.on('clientError', (error: ClientError, socket) => refusals.onError(error, socket, exchanges.get(socket)));
  server.on('connect', (_request, socket) => {
    // Node has let go of the socket; without a listener a reset connection would end the process.
    socket.on('error', () => socket.destroy());
    void refusals.refuse(socket, 'request method CONNECT is not supported');
  });
}

/** Answers what Node's parser could not make a request of, and Express therefore never sees. */
class Refusals {
  /** The parser reports every further piece of a broken connection; the first answer is the last. */
  private readonly refused = new WeakSet<Duplex>();

  constructor(private readonly rateLimiter: RateLimiter) {}

  onError(error: ClientError, socket: Duplex, latest: Exchange | undefined): void {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    if (this.refused.has(socket)) return;
    this.refused.add(socket);
    // Requests before the broken one arrived whole: their answers come first, or clients would mix them up.
    const broken = latest && !latest.request.complete ? latest.response : undefined;
    const pending = broken ? latest?.before : latest?.response;
    const issue = CAUSES[error.code ?? ''] ?? 'request must be valid HTTP/1.1';
    // As far as it can be told of what was not understood: an answer to HEAD has no body.
    const isHead = error.rawPacket?.subarray(0, 5).toString('latin1') === 'HEAD ' || broken?.req.method === 'HEAD';
    const answer = () => void this.refuse(socket, issue, { broken, isHead });
    if (pending && !pending.closed) pending.once('close', answer);
    else answer();
  }

  /** @param broken the response of the request that broke off, if the application has begun with it */
  async refuse(
    socket: Duplex,
    issue: string,
    { broken, isHead = false }: { broken?: ServerResponse | undefined; isHead?: boolean } = {},
  ): Promise<void> {
    try {
      const counted = await this.countedHeaders(socket, broken);
      // Answered before its body had arrived: nothing is left to say.
      if (broken?.headersSent) return endGently(socket);
      const body = JSON.stringify(errorBody(invalidInput(issue)));
      const headers = {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(body),
        'Cache-Control': 'no-store',
        'X-API-Version': API_VERSION,
        'X-Request-Id': requestId(broken?.getHeader('X-Request-Id')?.toString()),
        Connection: 'close',
        ...counted,
      };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      endGently(socket, `HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${isHead ? '' : body}`);
    } catch {
      socket.destroy();
    }
  }

  /** The rate-limit headers: those of the broken request if it was counted already, else it counts for its address. */
  private async countedHeaders(socket: Duplex, broken: ServerResponse | undefined): Promise<Record<string, unknown>> {
    if (broken?.hasHeader(RATE_LIMIT_HEADERS[0])) {
      return Object.fromEntries(RATE_LIMIT_HEADERS.map((name) => [name, broken.getHeader(name)]));
    }
    const address = socket instanceof Socket ? socket.remoteAddress : undefined;
    return this.rateLimiter.countAddress(address);
  }
}

/** Closes the connection for writing at once, and for good when the client has closed it too or has taken too long. */
function endGently(socket: Duplex, lastWords?: string): void {
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  cut.unref();
  socket.once('close', () => clearTimeout(cut));
  if (lastWords === undefined) socket.end();
  else socket.end(lastWords);
  socket.resume();
}
