import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { type EnvironmentProxy, ProxyRefusal, refusalOf } from '../environment-proxy/index.js';
import type { Connection, ConnectionPhase, Connections } from './connections.js';
import { OutboundError, type OutboundFailure } from './errors.js';

/** Maximum number of interim responses (1xx); each may be as long as the headers, and their number has no other limit. */
const MAX_INTERIM = 20;
/** Maximum size of received data that is not read yet, in bytes; more than any response that is needed. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
/** The rest of an abandoned body is read up to these limits, so that the connection can be reused. */
const MAX_DRAIN_BYTES = 64 * 1024;
const MAX_DRAIN_MS = 500;
/** A reused connection that fails within this time was probably closed by the peer before the request arrived. */
const STALE_MS = 500;

export interface ExchangeRequest {
  /** Default: GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Milliseconds for name look-up, connection, request and response up to its last byte. */
  readonly timeoutMs: number;
  /** Received bytes that may wait to be read; the whole body, if it is larger than 8 MiB and read more slowly than it comes. */
  readonly maxUnreadBytes?: number;
  readonly signal?: AbortSignal;
  /** Called when the request is written, after the name look-up and the connection set-up: the start of the latency. */
  readonly onSent?: () => void;
  /** For servers of the administrator alone: it connects by itself, so that addresses are not checked. */
  readonly proxy?: EnvironmentProxy | undefined;
  /** Called as a new connection is set up. */
  readonly onPhase?: (phase: ConnectionPhase) => void;
}

/** A response whose body is still arriving. */
export interface OutboundStream {
  readonly status: number;
  /** Names in lower case; the first value of a repeated header. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body as it arrives; leaving the loop closes it. @throws OutboundError */
  readonly body: AsyncIterable<Buffer>;
  /** Must be called unless the body is read to its end. */
  readonly close: () => void;
}

/** The peer closed a reused connection before it answered: the request can be repeated. */
export class StaleConnection extends OutboundError {
  constructor() {
    super('CONNECTION_FAILED');
  }
}

/** One request and its response, as a handler of Undici. */
export class Exchange implements Dispatcher.DispatchHandler {
  private state: 'waiting' | 'reading' | 'draining' | 'done' = 'waiting';
  private readonly timer: NodeJS.Timeout;
  private connection: Connection | undefined;
  private result!: { resolve: (stream: OutboundStream) => void; reject: (error: unknown) => void };
  /** Why the exchange ended before the response was complete. */
  private error: Error | undefined;
  private chunks: Buffer[] = [];
  private unreadBytes = 0;
  /** Resumes the reader of the body. */
  private wake: () => void = () => undefined;
  private interimResponses = 0;
  private isNewConnection = false;
  private sentAt = 0;
  private bytesReadBefore = 0;
  private drainBytes = MAX_DRAIN_BYTES;
  private drainTimer: NodeJS.Timeout | undefined;

  /**
   * @param timeoutMs remaining time of the request
   * @param isKept whether the connection is to be reused
   */
  constructor(
    private readonly target: URL,
    private readonly request: ExchangeRequest,
    timeoutMs: number,
    private readonly isKept: boolean,
  ) {
    this.timer = setTimeout(() => this.abort('TIMEOUT'), timeoutMs);
    request.signal?.addEventListener('abort', this.onAbort);
  }

  /** Sends the request and resolves when the headers of the response have arrived. @throws OutboundError */
  response(connections: Connections, lookup: LookupFunction): Promise<OutboundStream> {
    return new Promise((resolve, reject) => {
      this.result = { resolve, reject };
      if (this.request.signal?.aborted) return this.abort('ABORTED');
      connections.acquire(this.target, lookup, this.request.proxy).then(
        (connection) => this.send(connection),
        (error: Error) => this.finish(error),
      );
    });
  }

  private send(connection: Connection): void {
    if (this.state === 'done') {
      connection.isBusy = false;
      return;
    }
    const { method = 'GET', headers, body } = this.request;
    connection.onConnecting = () => (this.isNewConnection = true);
    connection.onPhase = this.request.onPhase;
    this.connection = connection;
    this.bytesReadBefore = connection.bytesRead;
    const options: Dispatcher.DispatchOptions = {
      origin: this.target.origin,
      path: `${this.target.pathname}${this.target.search}`,
      method,
      headers: { 'accept-encoding': 'identity', ...headers },
      body: body ?? null,
      reset: !this.isKept,
    };
    connection.client.dispatch(options, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.error) controller.abort(this.error);
    else this.request.onSent?.();
    this.sentAt = performance.now();
    this.bytesReadBefore = this.connection?.bytesRead ?? 0;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) {
      if (++this.interimResponses > MAX_INTERIM) this.abort('BAD_RESPONSE');
      return;
    }
    if (this.state !== 'waiting') return;
    const { proxy } = this.request;
    if (proxy && status === 407)
      return this.refuse(new OutboundError('CONNECTION_FAILED', { cause: new ProxyRefusal(proxy, status) }));
    this.state = 'reading';
    this.result.resolve({ status, headers: firstValues(headers), body: this.body(), close: this.close });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.state === 'reading') {
      this.chunks.push(chunk);
      this.unreadBytes += chunk.length;
      this.wake();
      // Undici is never paused: 7.30 ends the process when a paused connection breaks off (Parser.finish).
      if (this.unreadBytes > (this.request.maxUnreadBytes ?? MAX_UNREAD_BYTES)) this.abort('BAD_RESPONSE');
    } else {
      this.drainBytes -= chunk.length;
      if (this.drainBytes < 0) this.connection?.end();
    }
  }

  onResponseEnd(): void {
    if (this.connection) this.connection.isBusy = false;
    this.finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, cause: Error): void {
    this.finish(this.toOutboundError(cause));
    this.connection?.end();
  }

  private async *body(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for (;;) {
        if (this.chunks.length > 0) {
          // All at once: a turn of the event loop for each of many small chunks would delay everything else.
          const chunk = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
          this.chunks = [];
          this.unreadBytes = 0;
          yield chunk;
        } else if (this.state === 'done') {
          if (this.error) throw this.error;
          return;
        } else {
          await new Promise<void>((resolve) => (this.wake = resolve));
        }
      }
    } finally {
      this.close();
    }
  }

  private readonly onAbort = () => this.abort('ABORTED');

  private abort(reason: OutboundFailure): void {
    this.refuse(new OutboundError(reason));
  }

  private refuse(error: OutboundError): void {
    if (this.state === 'done') return;
    this.finish(error);
    this.connection?.end(error);
  }

  /** Ends the exchange. @param error why the response is not complete */
  private finish(error?: Error): void {
    if (this.state === 'done') return;
    const isWaiting = this.state === 'waiting';
    this.state = 'done';
    this.error = error;
    clearTimeout(this.drainTimer);
    this.clearLimits();
    if (isWaiting) this.result.reject(error);
    this.wake();
  }

  /** The rest of the body is not needed. */
  private readonly close = (): void => {
    if (this.state !== 'reading') return;
    if (!this.isKept) {
      this.finish();
      this.connection?.end();
      return;
    }
    this.clearLimits();
    this.state = 'draining';
    this.drainTimer = setTimeout(() => this.connection?.end(), MAX_DRAIN_MS);
    this.drainTimer.unref();
  };

  private clearLimits(): void {
    clearTimeout(this.timer);
    this.request.signal?.removeEventListener('abort', this.onAbort);
  }

  private toOutboundError(error: Error & { readonly code?: string }): OutboundError {
    if (error instanceof OutboundError) return error;
    const refusal = this.request.proxy && refusalOf(error, this.request.proxy);
    if (refusal) return new OutboundError('CONNECTION_FAILED', { cause: refusal });
    if (error.code === 'UND_ERR_INVALID_ARG') return new OutboundError('HEADER_REFUSED', { cause: error });
    const isWaiting = this.state === 'waiting';
    const hasReceived = this.connection?.bytesRead !== this.bytesReadBefore;
    // Of a body that the peer cut off, the beginning was valid.
    const isInvalid = hasReceived && (isWaiting || !this.connection?.isClosedByPeer);
    if (isInvalid) return new OutboundError('BAD_RESPONSE', { cause: error });
    const isReused = this.isKept && !this.isNewConnection && isWaiting;
    const isStale = isReused && performance.now() - this.sentAt < STALE_MS;
    return isStale ? new StaleConnection() : new OutboundError('CONNECTION_FAILED', { cause: error });
  }
}

function firstValues(headers: Record<string, string | string[] | undefined>): OutboundStream['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}
