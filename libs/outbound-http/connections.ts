import { isIP, type LookupFunction, connect as connectTcp, type Socket, type TcpNetConnectOpts } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { buildConnector, Client, Dispatcher } from 'undici';
import { OutboundError, type OutboundFailure } from './errors.js';

/** Longest headers, in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;
/** How long a connection is kept that nobody uses, in milliseconds, unless the other side says how long it keeps it. */
const KEPT_MS = 60_000;

/** One for all: its stack, which Node asks of it at each connection, would be written anew for each. */
const ABORTED = new OutboundError('ABORTED');

type Undici = typeof import('undici');
/** Undici takes a tenth of a second to load, for which no start need wait. */
let undici: Undici | undefined;
let loading: Promise<Undici> | undefined;

/**
 * Connections that are kept between the requests of one conversation, to one and the same place: whether it may be
 * reached was decided when they were made.
 */
export class Connections {
  private readonly kept: Connection[] = [];
  private isClosed = false;

  /** Loads what it takes. Whoever measures time waits for it before: it takes longer when it is needed first. */
  async prepare(): Promise<Undici> {
    loading ??= import('undici').then(async (library) => {
      await exchangeWithNobody(library);
      return library;
    });
    return (undici ??= await loading);
  }

  /**
   * One that no request uses, kept or new.
   * @throws OutboundError when they were closed
   */
  async free({ origin }: URL, lookup: LookupFunction): Promise<Connection> {
    const library = undici ?? (await this.prepare());
    if (this.isClosed) throw ABORTED;
    for (let index = this.kept.length - 1; index >= 0; index--) {
      const connection = this.kept[index]!;
      if (connection.client.destroyed) this.kept.splice(index, 1);
      else if (!connection.isBusy) {
        connection.isBusy = true;
        return connection;
      }
    }
    const connection = new Connection(library, origin, lookup);
    this.kept.push(connection);
    return connection;
  }

  /** Ends them all, with the requests that use them. */
  close(): void {
    this.isClosed = true;
    for (const connection of this.kept) connection.end();
  }
}

/** One request answered from here, for its parser is made with the first answer: that one would come 30 ms late. */
function exchangeWithNobody({ Client: UndiciClient }: Undici): Promise<void> {
  const socket = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, done) => done(),
  });
  const client = new UndiciClient('http://nobody.invalid', {
    connect: (_options, callback) => void setImmediate(() => callback(null, socket as unknown as Socket)),
  });
  return new Promise((resolve, reject) => {
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => void setImmediate(() => socket.push('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')),
      onResponseEnd: () => void client.destroy(ABORTED, resolve),
      onResponseError: (_controller, error) => reject(error),
    };
    client.dispatch({ path: '/', method: 'GET' }, handler);
  });
}

/** A connection, made when it is first used and again when the other side has closed it. Carries one request at a time. */
export class Connection {
  readonly client: Client;
  /** Whether an exchange has it; the one that it was made for does. */
  isBusy = true;
  /** Told when it begins to be made. */
  onConnecting: (() => void) | undefined;
  private socket: Socket | undefined;
  private isBeingMade = false;

  constructor(
    { Client: UndiciClient }: Undici,
    origin: string,
    private readonly lookup: LookupFunction,
  ) {
    this.client = new UndiciClient(origin, {
      connect: this.connect,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEPT_MS,
      keepAliveMaxTimeout: KEPT_MS,
      // What there is of time is the whole exchange's.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** What has come over it, in bytes. */
  get bytesRead(): number {
    return this.socket?.bytesRead ?? 0;
  }

  /** @param reason for whoever uses it */
  end(reason: OutboundError = ABORTED): void {
    // Of one that is being made Undici knows nothing yet.
    if (this.isBeingMade) this.socket?.destroy();
    this.client.destroy(reason, () => undefined);
  }

  /** A connector of our own: it tells what went wrong in which phase, and what is being made can be given up. */
  private readonly connect: buildConnector.connector = ({ hostname, port, protocol }, callback) => {
    const isSecure = protocol === 'https:';
    const to: TcpNetConnectOpts = {
      host: hostname,
      port: Number(port || (isSecure ? 443 : 80)),
      lookup: this.lookup,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEPT_MS,
    };
    // No server name for addresses (RFC 6066, section 3).
    const names = isIP(hostname) === 0 ? { servername: hostname } : {};
    const socket = isSecure ? connectTls({ ...to, ...names, ALPNProtocols: ['http/1.1'] }) : connectTcp(to);
    this.socket = socket;
    let reason: OutboundFailure | undefined = 'CONNECTION_FAILED';
    if (isSecure) socket.once('connect', () => (reason = 'TLS_FAILED'));
    this.isBeingMade = true;
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      reason = undefined;
      this.isBeingMade = false;
      callback(null, socket);
    });
    socket.on('error', (error) => {
      if (reason === undefined) return;
      callback(error instanceof OutboundError ? error : new OutboundError(reason, { cause: error }), null);
      reason = undefined;
      this.isBeingMade = false;
    });
    this.onConnecting?.();
  };
}
