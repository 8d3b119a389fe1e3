import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { AddressFilter } from './address-filter.js';
import { OutboundError, type OutboundFailure } from './errors.js';
import { type Resolve, resolveName } from './resolver.js';

/** Longest status line and headers, in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Interim responses (1xx) before the answer; each may be as long as the headers, and nothing else bounds their number. */
const MAX_INTERIM = 20;

export interface OutboundOptions {
  /** Networks (CIDR) that may be reached although they are not public. */
  readonly allowedNetworks?: readonly string[];
  /** The name look-up; the system's unless a test replaces it. */
  readonly resolve?: Resolve;
}

export interface OutboundRequest {
  readonly url: string;
  /** GET unless given. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For everything together: look-up, connection, request, response to its last byte. Milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Connections to go on with; one of its own unless given. */
  readonly connections?: Connections;
}

/** A response whose body is still arriving. */
export interface OutboundStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body as it arrives; ends the connection when the loop is left. @throws OutboundError */
  readonly body: AsyncIterable<Buffer>;
  /** Ends the connection; to be called when the body is not read to its end. */
  readonly close: () => void;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Whether the body was longer than `maxBodyBytes`; the connection was ended then. */
  readonly truncated: boolean;
  readonly durationMs: number;
}

/**
 * HTTP to addresses that users enter. Connects to permitted addresses only, and checks them inside the connection's
 * own name look-up: there is no moment between check and connection in which a name could change its mind. Follows no
 * redirect, keeps no connection unless asked to, asks for no compression, and bounds time, headers and body.
 */
export class OutboundClient {
  private readonly filter: AddressFilter;
  /** The name look-up; may be replaced by tests. */
  resolve: Resolve;

  constructor({ allowedNetworks = [], resolve = resolveName }: OutboundOptions = {}) {
    this.filter = new AddressFilter(allowedNetworks);
    this.resolve = resolve;
  }

  /** Why a request to this address would be refused before any connection, or undefined. */
  check(url: string): Extract<OutboundFailure, 'URL_REFUSED' | 'ADDRESS_REFUSED'> | undefined {
    const target = this.target(url);
    return typeof target === 'string' ? target : undefined;
  }

  /** Sends a request and reads the response up to `maxBodyBytes`. @throws OutboundError */
  async request(request: OutboundRequest & { readonly maxBodyBytes: number }): Promise<OutboundResponse> {
    const begun = performance.now();
    const { status, headers, body, close } = await this.open(request);
    const chunks: Buffer[] = [];
    let length = 0;
    try {
      for await (const chunk of body) {
        chunks.push(chunk);
        length += chunk.length;
        if (length > request.maxBodyBytes) break;
      }
    } finally {
      close();
    }
    return {
      status,
      headers,
      body: Buffer.concat(chunks).subarray(0, request.maxBodyBytes),
      truncated: length > request.maxBodyBytes,
      durationMs: Math.round(performance.now() - begun),
    };
  }

  /** Sends a request and answers as soon as the response's headers are there. @throws OutboundError */
  async open(request: OutboundRequest): Promise<OutboundStream> {
    const target = this.target(request.url);
    if (typeof target === 'string') throw new OutboundError(target);
    try {
      return await new Exchange(target, request, this.lookup).response();
    } catch (error) {
      // The other side has closed a kept connection just when it was used again: nothing has been answered.
      if (!(error instanceof StaleConnection)) throw error;
      return new Exchange(target, { ...request, connections: undefined }, this.lookup).response();
    }
  }

  /** The parsed address, or why it is refused. */
  private target(url: string): URL | 'URL_REFUSED' | 'ADDRESS_REFUSED' {
    if (!URL.canParse(url)) return 'URL_REFUSED';
    const target = new URL(url);
    const { protocol, username, password, hostname } = target;
    if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return 'URL_REFUSED';
    // The URL parser has turned 0x7f.1, 2130706433 and the like into the usual notation.
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    return isIP(host) !== 0 && !this.filter.allows(host) ? 'ADDRESS_REFUSED' : target;
  }

  /** Node calls this for every connection to a name, and connects to what it answers and to nothing else. */
  private readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.resolve(hostname).then(
      (addresses) => {
        const permitted = addresses.filter((address) => this.filter.allows(address));
        const [first] = permitted;
        if (first === undefined) {
          const reason = addresses.length > 0 ? 'ADDRESS_REFUSED' : 'NAME_NOT_FOUND';
          callback(new OutboundError(reason), '', 0);
        } else if (options.all) {
          callback(
            null,
            permitted.map((address) => ({ address, family: isIP(address) })),
          );
        } else {
          callback(null, first, isIP(first));
        }
      },
      (cause: unknown) => callback(new OutboundError('NAME_NOT_FOUND', { cause }), '', 0),
    );
  };
}

/** How much of a body that nobody wants may still come, and how long it may take, for its connection to be kept. */
const MAX_REST_BYTES = 64 * 1024;
const MAX_REST_MS = 500;

/**
 * Connections that are kept between the requests of one conversation, to one and the same place: whether it may be
 * reached was decided when they were made.
 */
export class Connections {
  private agent: HttpAgent | HttpsAgent | undefined;

  /** What Node keeps them in, which is either for HTTP or for HTTPS. */
  for({ protocol }: URL): HttpAgent {
    const options = { keepAlive: true };
    return (this.agent ??= protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options));
  }

  /** Ends them all. */
  close(): void {
    this.agent?.destroy();
  }
}

class StaleConnection extends OutboundError {
  constructor() {
    super('CONNECTION_FAILED');
  }
}

type ExchangeRequest = Omit<OutboundRequest, 'connections'> & { readonly connections?: Connections | undefined };

/** One request with its response, from the look-up to the last byte. */
class Exchange {
  private readonly outgoing: ClientRequest;
  private readonly timer: NodeJS.Timeout;
  private readonly signal: AbortSignal | undefined;
  private readonly secure: boolean;
  private readonly isKept: boolean;
  private failure: OutboundError | undefined;
  /** Set when this side cut the exchange off: its time was up, or its user wanted no more. */
  private stopped: OutboundError | undefined;
  private phase: 'connecting' | 'securing' | 'waiting' | 'answered' = 'connecting';

  constructor(target: URL, request: ExchangeRequest, lookup: LookupFunction) {
    const { method = 'GET', headers = {}, body, timeoutMs, signal, connections } = request;
    this.secure = target.protocol === 'https:';
    this.isKept = connections !== undefined;
    this.outgoing = (this.secure ? httpsRequest : httpRequest)(target, {
      method,
      headers: {
        'accept-encoding': 'identity',
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
        ...headers,
      },
      lookup,
      // A connection of its own for each request: one that is kept for everybody would skip the look-up and its filter.
      agent: connections?.for(target) ?? false,
      maxHeaderSize: MAX_HEADER_BYTES,
      insecureHTTPParser: false,
    });
    this.timer = setTimeout(() => this.fail('TIMEOUT'), timeoutMs);
    this.signal = signal;
    if (signal?.aborted) this.abort();
    signal?.addEventListener('abort', this.abort);
    this.outgoing.on('socket', (socket) => {
      if (!socket.connecting) this.phase = 'waiting';
      socket.once('connect', () => (this.phase = this.secure ? 'securing' : 'waiting'));
      socket.once('secureConnect', () => (this.phase = 'waiting'));
    });
    let interim = 0;
    this.outgoing.on('information', () => {
      if (++interim > MAX_INTERIM) this.fail('BAD_RESPONSE');
    });
    // A switch of protocols was not asked for.
    this.outgoing.on('upgrade', (_response, socket) => {
      socket.destroy();
      // Node has let go of the request by now: destroying it would be silent.
      this.outgoing.emit('error', new OutboundError('BAD_RESPONSE'));
    });
    this.outgoing.end(body);
  }

  response(): Promise<OutboundStream> {
    return new Promise((resolve, reject) => {
      this.outgoing.on('error', (error) => {
        // Also after the answer, when a receiver has answered without reading all of the request.
        const isStale = this.isKept && this.outgoing.reusedSocket && !this.stopped && this.phase !== 'answered';
        this.failure ??= isStale ? new StaleConnection() : this.explain(error);
        if (this.phase !== 'answered') {
          this.release();
          reject(this.failure);
        }
      });
      this.outgoing.on('response', (incoming) => {
        this.phase = 'answered';
        const close = () => this.close(incoming);
        incoming.on('error', (error) => (this.failure ??= this.explain(error)));
        incoming.once('close', () => this.release());
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: this.read(incoming), close });
      });
    });
  }

  private async *read(incoming: IncomingMessage): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of incoming.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
      // A body without a length ends like this too when we cut it off ourselves.
      if (this.stopped) throw this.stopped;
    } catch (error) {
      throw this.stopped ?? this.failure ?? this.explain(error);
    } finally {
      this.close(incoming);
    }
  }

  private readonly abort = () => this.fail('ABORTED');

  private fail(reason: OutboundFailure): void {
    this.stopped ??= new OutboundError(reason);
    this.failure ??= this.stopped;
    this.outgoing.destroy(this.failure);
  }

  private close(incoming: IncomingMessage): void {
    this.release();
    if (this.isKept && !this.stopped && !this.failure && !incoming.destroyed) return void this.letEnd(incoming);
    incoming.destroy();
    this.outgoing.destroy();
  }

  /** Reads what is left, if it is little and comes soon, so that the connection can be used again. */
  private letEnd(incoming: IncomingMessage): void {
    if (incoming.complete && incoming.readableLength === 0) return void incoming.resume();
    let left = MAX_REST_BYTES;
    const end = () => {
      clearTimeout(timer);
      incoming.destroy();
    };
    const timer = setTimeout(end, MAX_REST_MS);
    timer.unref();
    incoming.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    incoming.on('error', () => undefined);
    incoming.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) end();
    });
  }

  private release(): void {
    clearTimeout(this.timer);
    this.signal?.removeEventListener('abort', this.abort);
  }

  private explain(error: unknown): OutboundError {
    if (error instanceof OutboundError) return error;
    const { code } = error as { code?: unknown };
    // With several addresses Node collects the errors of all attempts; the look-up's own come alone.
    if (typeof code === 'string' && code.startsWith('HPE_')) return new OutboundError('BAD_RESPONSE', { cause: error });
    const reason = this.phase === 'securing' ? 'TLS_FAILED' : 'CONNECTION_FAILED';
    return new OutboundError(reason, { cause: error });
  }
}
