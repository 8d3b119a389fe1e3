import { isIP, type LookupFunction, connect as connectTcp, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector, Client, ProxyAgent } from 'undici';
import { agentOptions, type EnvironmentProxy } from '../environment-proxy/index.js';
import { OutboundError, type OutboundFailure } from './errors.js';

/** Maximum size of the headers of a response, in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;
/** How long an idle connection is kept, in milliseconds, unless the peer announces another time. */
const KEEP_ALIVE_MS = 60_000;

type Undici = typeof import('undici');
/** Loaded on first use: it takes a tenth of a second, which would delay the start of the service. */
let undici: Undici | undefined;

/** What a new connection has reached: an address that may be called, the server, an encrypted connection to it. */
export type ConnectionPhase = 'resolved' | 'connected' | 'secured';

/** Connections to one origin, kept between the requests of a conversation. Addresses are checked when connecting. */
export class Connections {
  private readonly connections: Connection[] = [];
  private isClosed = false;

  /** Loads the HTTP client, so that a request that is timed afterwards does not include it. */
  async prepare(): Promise<Undici> {
    return (undici ??= await import('undici'));
  }

  /**
   * An idle connection, kept or new.
   * @throws OutboundError after `close`
   */
  async acquire({ origin }: URL, lookup: LookupFunction, proxy?: EnvironmentProxy): Promise<Connection> {
    const library = undici ?? (await this.prepare());
    if (this.isClosed) throw new OutboundError('ABORTED');
    for (let index = this.connections.length - 1; index >= 0; index--) {
      const connection = this.connections[index]!;
      if (connection.client.destroyed) this.connections.splice(index, 1);
      else if (!connection.isBusy) {
        connection.isBusy = true;
        return connection;
      }
    }
    const connection = new Connection(library, origin, lookup, proxy);
    this.connections.push(connection);
    return connection;
  }

  /** Ends all connections and the requests on them. */
  close(): void {
    this.isClosed = true;
    for (const connection of this.connections) connection.end();
  }
}

/** A connection for one request at a time. Connects on first use, and reconnects when the peer has closed it. */
export class Connection {
  readonly client: Client | (ProxyAgent & Pick<Client, 'destroyed'>);
  isBusy = true;
  onConnecting: (() => void) | undefined;
  onPhase: ((phase: ConnectionPhase) => void) | undefined;
  /** Whether the peer has ended or reset the connection. */
  isClosedByPeer = false;
  private socket: Socket | undefined;
  private isConnecting = false;

  constructor(
    { Client: UndiciClient, ProxyAgent: UndiciProxyAgent }: Undici,
    origin: string,
    private readonly lookup: LookupFunction,
    proxy?: EnvironmentProxy,
  ) {
    const options = {
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // One time-out covers the whole exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.client = proxy
      ? (new UndiciProxyAgent({ ...options, ...agentOptions(proxy) }) as ProxyAgent & Pick<Client, 'destroyed'>)
      : new UndiciClient(origin, { ...options, connect: this.connect });
  }

  /** Bytes received so far. */
  get bytesRead(): number {
    return this.socket?.bytesRead ?? 0;
  }

  /** @param reason error of the requests in progress */
  end(reason = new OutboundError('ABORTED')): void {
    // Undici does not know the socket before it is connected.
    if (this.isConnecting) this.socket?.destroy();
    this.client.destroy(reason, () => undefined);
  }

  private readonly resolve: LookupFunction = (hostname, options, callback) =>
    this.lookup(hostname, options, (error, address, family) => {
      if (!error) this.onPhase?.('resolved');
      callback(error, address, family);
    });

  /** In place of Undici's connector, which neither says in which phase connecting failed nor can be aborted. */
  private readonly connect: buildConnector.connector = ({ hostname, port, protocol }, callback) => {
    const isSecure = protocol === 'https:';
    const options: TcpNetConnectOpts = {
      host: hostname,
      port: Number(port || (isSecure ? 443 : 80)),
      lookup: this.resolve,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    };
    // The server name (SNI) must not be an IP address (RFC 6066, section 3).
    const serverName = isIP(hostname) === 0 ? { servername: hostname } : {};
    const socket = isSecure
      ? connectTls({ ...options, ...serverName, ALPNProtocols: ['http/1.1'] })
      : connectTcp(options);
    this.socket = socket;
    let reason: OutboundFailure = 'CONNECTION_FAILED';
    // Literal addresses are not looked up.
    if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) this.onPhase?.('resolved');
    socket.once('connect', () => {
      if (isSecure) reason = 'TLS_FAILED';
      this.onPhase?.('connected');
    });
    this.isConnecting = true;
    this.isClosedByPeer = false;
    socket.once('end', () => (this.isClosedByPeer = true));
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      this.isConnecting = false;
      if (isSecure) this.onPhase?.('secured');
      callback(null, socket);
    });
    socket.on('error', (error) => {
      // Errors without a system call are Undici's own.
      if (!this.isConnecting) return void (this.isClosedByPeer ||= 'syscall' in error);
      this.isConnecting = false;
      callback(error instanceof OutboundError ? error : new OutboundError(reason, { cause: error }), null);
    });
    this.onConnecting?.();
  };
}
