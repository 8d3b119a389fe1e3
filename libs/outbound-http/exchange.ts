import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { Body } from './body.js';
import type { Connection, Connections } from './connections.js';
import { OutboundError, type OutboundFailure } from './errors.js';

/** Interim responses (1xx) before the answer; each may be as long as the headers, and nothing else bounds their number. */
const MAX_INTERIM = 20;
/** How much of a body that nobody wants may still come, and how long it may take, for its connection to be kept. */
const MAX_REST_BYTES = 64 * 1024;
const MAX_REST_MS = 500;
/** So soon after the request it shows that the other side had closed a kept connection: a round trip, even a long one. */
const STALE_MS = 500;
/** What Undici tells by its words only, which are those of the version that package.json pins. */
const NO_ANSWER = /^bad (response|upgrade)$/;
const CUT_SHORT = /\(Invalid EOF state\)$|does not match content-length header$/;

export interface ExchangeRequest {
  /** GET unless given. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For everything together: look-up, connection, request, response to its last byte. Milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Told when the request is on its way, or as far as a new connection lets it: from then on the other side is at work. */
  readonly onSent?: () => void;
}

/** A response whose body is still arriving. */
export interface OutboundStream {
  readonly status: number;
  /** Names in lower case; of a repeated one, the first. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body as it arrives; ends the connection when the loop is left. @throws OutboundError */
  readonly body: AsyncIterable<Buffer>;
  /** Ends the connection; to be called when the body is not read to its end. */
  readonly close: () => void;
}

/** The other side had closed a kept connection just when it was used again: nothing has been answered. */
export class StaleConnection extends OutboundError {
  constructor() {
    super('CONNECTION_FAILED');
  }
}

/** One request with its response, from the look-up to the last byte; what Undici tells comes in by the `on…` methods. */
export class Exchange implements Dispatcher.DispatchHandler {
  private readonly timer: NodeJS.Timeout;
  private connection: Connection | undefined;
  private readonly body = new Body(() => this.close());
  private settle!: { resolve: (stream: OutboundStream) => void; reject: (error: unknown) => void };
  /** Set when this side cut the exchange off: its time was up, or its user wanted no more. */
  private stopped: OutboundError | undefined;
  private state: 'asking' | 'answering' | 'unwanted' | 'over' = 'asking';
  /** Whether a connection was made for it. */
  private isConnecting = false;
  private interim = 0;
  /** When the request was written, and what had come over its connection until then, in bytes. */
  private sentAt = 0;
  private bytesBefore = 0;
  private rest = MAX_REST_BYTES;
  private restTimer: NodeJS.Timeout | undefined;

  /**
   * @param timeoutMs what is left of the request's time
   * @param isKept whether the connection is to be used again
   */
  constructor(
    private readonly target: URL,
    private readonly request: ExchangeRequest,
    timeoutMs: number,
    private readonly isKept: boolean,
  ) {
    this.timer = setTimeout(() => this.fail('TIMEOUT'), timeoutMs);
    request.signal?.addEventListener('abort', this.abort);
  }

  /** @throws OutboundError */
  response(connections: Connections, lookup: LookupFunction): Promise<OutboundStream> {
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      if (this.request.signal?.aborted) return this.fail('ABORTED');
      connections.free(this.target, lookup).then(
        (connection) => this.send(connection),
        (error: unknown) => this.refuse(error),
      );
    });
  }

  private send(connection: Connection): void {
    if (this.state === 'over') {
      connection.isBusy = false;
      return;
    }
    const { method = 'GET', headers, body } = this.request;
    connection.onConnecting = () => {
      this.isConnecting = true;
      this.request.onSent?.();
    };
    this.connection = connection;
    const options: Dispatcher.DispatchOptions = {
      path: `${this.target.pathname}${this.target.search}`,
      method,
      headers: { 'accept-encoding': 'identity', ...headers },
      body: body ?? null,
      reset: !this.isKept,
    };
    connection.client.dispatch(options, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.stopped) controller.abort(this.stopped);
    else if (!this.isConnecting) this.request.onSent?.();
    this.sentAt = performance.now();
    this.bytesBefore = this.connection?.bytesRead ?? 0;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) {
      if (++this.interim > MAX_INTERIM) this.fail('BAD_RESPONSE');
      return;
    }
    if (this.state !== 'asking') return;
    this.state = 'answering';
    this.settle.resolve({ status, headers: single(headers), body: this.body, close: () => this.close() });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.state === 'answering') {
      // Undici is never told to wait: it ends the process when a connection breaks off meanwhile (7.30, `Parser.finish`).
      if (!this.body.push(chunk)) this.fail('BAD_RESPONSE');
    } else {
      this.rest -= chunk.length;
      if (this.rest < 0) this.drop();
    }
  }

  onResponseEnd(): void {
    if (this.connection) this.connection.isBusy = false;
    this.over();
    this.body.end(this.stopped);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, cause: Error): void {
    this.breakOff(this.stopped ?? this.explain(cause));
  }

  private readonly abort = () => this.fail('ABORTED');

  /** No answer comes. */
  private refuse(error: unknown): void {
    this.over();
    this.drop();
    this.settle.reject(error);
  }

  /** Cuts the exchange off. */
  private fail(reason: OutboundFailure): void {
    if (this.state === 'over') return;
    this.stopped ??= new OutboundError(reason);
    this.breakOff(this.stopped);
  }

  private breakOff(error: OutboundError): void {
    if (this.state === 'asking') return this.refuse(error);
    this.over();
    this.body.end(error);
    this.drop();
  }

  /** The reader wants no more. What is left is read if it is little and comes soon: the connection can be used again then. */
  private close(): void {
    if (this.state !== 'answering') return;
    this.release();
    if (!this.isKept) {
      this.over();
      return this.drop();
    }
    this.state = 'unwanted';
    this.restTimer = setTimeout(() => this.drop(), MAX_REST_MS);
    this.restTimer.unref();
  }

  /** Lets go of the connection for good. */
  private drop(): void {
    this.connection?.end(this.stopped);
  }

  private over(): void {
    this.state = 'over';
    clearTimeout(this.restTimer);
    this.release();
  }

  private release(): void {
    clearTimeout(this.timer);
    this.request.signal?.removeEventListener('abort', this.abort);
  }

  private explain(error: Error): OutboundError {
    if (error instanceof OutboundError) return error;
    const reason = reasonOf(error);
    return reason === 'CONNECTION_FAILED' && this.isStale()
      ? new StaleConnection()
      : new OutboundError(reason, { cause: error });
  }

  /** Whether the request met a connection that was being closed: only then nobody can have begun to work on it. */
  private isStale(): boolean {
    const isReused = this.isKept && !this.isConnecting && this.state === 'asking';
    const isSilent = this.connection?.bytesRead === this.bytesBefore;
    return isReused && isSilent && performance.now() - this.sentAt < STALE_MS;
  }
}

/** What Undici reports of a connection that was made. */
function reasonOf({ name, message, code = '' }: Error & { readonly code?: string }): OutboundFailure {
  // The other side has ended in the midst of its answer.
  if (CUT_SHORT.test(message)) return 'CONNECTION_FAILED';
  if (code === 'UND_ERR_INVALID_ARG') return 'HEADER_REFUSED';
  // Statuses such as 000 are assertions of its own.
  const isNoAnswer =
    name === 'HTTPParserError' ||
    code === 'ERR_ASSERTION' ||
    code === 'UND_ERR_HEADERS_OVERFLOW' ||
    NO_ANSWER.test(message);
  return isNoAnswer ? 'BAD_RESPONSE' : 'CONNECTION_FAILED';
}

/** @param headers are ours to change */
function single(headers: Record<string, string | string[] | undefined>): OutboundStream['headers'] {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value[0];
  }
  return headers as Record<string, string | undefined>;
}
