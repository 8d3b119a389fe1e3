import { isIP, type LookupFunction } from 'node:net';
import { AddressFilter } from './address-filter.js';
import { Connections } from './connections.js';
import { OutboundError, type OutboundFailure } from './errors.js';
import { Exchange, type ExchangeRequest, type OutboundStream, StaleConnection } from './exchange.js';
import { type OwnEndpoint, OwnEndpoints } from './own-endpoints.js';
import { readBody } from './read-body.js';
import { type Resolve, resolveName } from './resolver.js';

export interface OutboundOptions {
  /** Networks (CIDR) that may be reached although they are not public. */
  readonly allowedNetworks?: readonly string[];
  /** Endpoints that must not be reached even inside an allowed network. */
  readonly ownEndpoints?: readonly OwnEndpoint[];
  /** Name look-up; replaced in tests. */
  readonly resolve?: Resolve;
}

export interface OutboundRequest extends ExchangeRequest {
  readonly url: string;
  /** Connections to reuse; without them the request uses a separate connection. */
  readonly connections?: Connections;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: OutboundStream['headers'];
  readonly body: Buffer;
  /** Whether the body was longer than `maxBodyBytes` and cut off there. */
  readonly truncated: boolean;
  readonly durationMs: number;
}

/**
 * HTTP client for URLs that users enter. Addresses are checked inside the connection's own name look-up, so that a name
 * cannot resolve to another address between check and connection (DNS rebinding). Follows no redirects, requests no
 * compression, keeps no connections by default, and limits the time, the headers and the body.
 */
export class OutboundClient {
  private readonly filter: AddressFilter;
  private readonly own: OwnEndpoints;
  /** Look-ups in progress, by name. */
  private readonly lookups = new Map<string, Promise<string[]>>();
  /** Name look-up; replaced in tests. */
  resolve: Resolve;
  /** What makes another client that reaches the same: plain data. */
  readonly settings: Pick<OutboundOptions, 'allowedNetworks' | 'ownEndpoints'>;

  constructor({ allowedNetworks = [], ownEndpoints = [], resolve = resolveName }: OutboundOptions = {}) {
    this.settings = { allowedNetworks, ownEndpoints };
    this.filter = new AddressFilter(allowedNetworks);
    this.own = new OwnEndpoints(ownEndpoints, (hostname) => this.addresses(hostname));
    this.resolve = resolve;
  }

  /** Why a request to this URL is refused without connecting, or undefined. */
  check(url: string): Extract<OutboundFailure, 'URL_REFUSED' | 'ADDRESS_REFUSED'> | undefined {
    const target = this.target(url);
    return typeof target === 'string' ? target : undefined;
  }

  /** Sends a request and reads the response up to `maxBodyBytes`. @throws OutboundError */
  async request(request: OutboundRequest & { readonly maxBodyBytes: number }): Promise<OutboundResponse> {
    const startedAt = performance.now();
    const { status, headers, body, close } = await this.open(request);
    const read = await readBody(body, request.maxBodyBytes).finally(close);
    return { status, headers, ...read, durationMs: Math.round(performance.now() - startedAt) };
  }

  /** Sends a request and resolves when the headers of the response have arrived. @throws OutboundError */
  async open(request: OutboundRequest): Promise<OutboundStream> {
    const target = this.target(request.url);
    if (typeof target === 'string') throw new OutboundError(target);
    const port = portOf(target);
    const host = hostOf(target);
    if (isIP(host) !== 0 && (await this.own.include(host, port))) throw new OutboundError('ADDRESS_REFUSED');
    const lookup = this.lookupFor(port);
    const { timeoutMs } = request;
    // Not shared between callers: a kept connection skips the look-up and its filter.
    const connections = request.connections ?? new Connections();
    await connections.prepare();
    const startedAt = performance.now();
    const isKept = request.connections !== undefined;
    const open = (time: number) => new Exchange(target, request, time, isKept).response(connections, lookup);
    try {
      return await open(timeoutMs);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      return open(Math.max(0, timeoutMs - (performance.now() - startedAt)));
    }
  }

  /**
   * The addresses of a URL that may be connected to now, for a connection that is not made here: it must go to one of them and
   * look the name up no further. `ws:` and `wss:` are like http and https.
   * @throws OutboundError
   */
  async addressesOf(url: string): Promise<string[]> {
    const target = this.target(url.replace(/^ws/i, 'http'));
    if (typeof target === 'string') throw new OutboundError(target);
    const [host, port] = [hostOf(target), portOf(target)];
    if (isIP(host) === 0) return this.permitted(host, port);
    if (await this.own.include(host, port)) throw new OutboundError('ADDRESS_REFUSED');
    return [host];
  }

  /** The parsed URL, or why it is refused. */
  private target(url: string): URL | 'URL_REFUSED' | 'ADDRESS_REFUSED' {
    if (!URL.canParse(url)) return 'URL_REFUSED';
    const target = new URL(url);
    const { protocol, username, password } = target;
    if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return 'URL_REFUSED';
    const host = hostOf(target);
    return isIP(host) !== 0 && !this.filter.allows(host) ? 'ADDRESS_REFUSED' : target;
  }

  /** All addresses of a name. Concurrent look-ups of one name share a query, because name servers limit the rate. */
  addresses(hostname: string): Promise<string[]> {
    let lookup = this.lookups.get(hostname);
    if (!lookup) {
      lookup = this.resolve(hostname).finally(() => this.lookups.delete(hostname));
      this.lookups.set(hostname, lookup);
    }
    return lookup;
  }

  /** The addresses of a name that may be connected to. @throws OutboundError */
  private async permitted(hostname: string, port: number): Promise<string[]> {
    const addresses = await this.addresses(hostname).catch((cause: unknown) => {
      throw new OutboundError('NAME_NOT_FOUND', { cause });
    });
    const permitted: string[] = [];
    for (const address of addresses) {
      if (this.filter.allows(address) && !(await this.own.include(address, port))) permitted.push(address);
    }
    if (permitted.length === 0) throw new OutboundError(addresses.length > 0 ? 'ADDRESS_REFUSED' : 'NAME_NOT_FOUND');
    return permitted;
  }

  /** Node calls this for every connection to a name and connects only to the addresses that it returns. */
  private lookupFor(port: number): LookupFunction {
    return (hostname, options, callback) => {
      this.permitted(hostname, port).then(
        (addresses) => {
          const found = addresses.map((address) => ({ address, family: isIP(address) }));
          if (options.all) callback(null, found);
          else callback(null, found[0]!.address, found[0]!.family);
        },
        (error: Error) => callback(error, '', 0),
      );
    };
  }
}

/** The URL parser has normalised notations such as 0x7f.1 and 2130706433. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80));
