import { isIP, type LookupFunction } from 'node:net';
import { AddressFilter } from './address-filter.js';
import { Connections } from './connections.js';
import { OutboundError, type OutboundFailure } from './errors.js';
import { Exchange, type ExchangeRequest, type OutboundStream, StaleConnection } from './exchange.js';
import { type Resolve, resolveName } from './resolver.js';

/** Parsed addresses that are kept in mind: those of calls come again with every turn. Their number, their characters. */
const KEPT_TARGETS = 500;
const LONGEST_KEPT_TARGET = 1_000;

export interface OutboundOptions {
  /** Networks (CIDR) that may be reached although they are not public. */
  readonly allowedNetworks?: readonly string[];
  /** The name look-up; the system's unless a test replaces it. */
  readonly resolve?: Resolve;
}

export interface OutboundRequest extends ExchangeRequest {
  readonly url: string;
  /** Connections to go on with; one of its own unless given. */
  readonly connections?: Connections;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: OutboundStream['headers'];
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
  private readonly targets = new Map<string, ReturnType<OutboundClient['parse']>>();
  /** Look-ups under way. */
  private readonly lookups = new Map<string, Promise<string[]>>();
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
    const { connections, timeoutMs } = request;
    const begun = performance.now();
    // A connection of its own for each request: one that is kept for everybody would skip the look-up and its filter.
    const open = (time: number) =>
      new Exchange(target, request, time, connections !== undefined).response(
        connections ?? new Connections(),
        this.lookup,
      );
    try {
      return await open(timeoutMs);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      return open(Math.max(0, timeoutMs - (performance.now() - begun)));
    }
  }

  /** The parsed address, or why it is refused. */
  private target(url: string): ReturnType<OutboundClient['parse']> {
    let target = this.targets.get(url);
    if (target === undefined) {
      target = this.parse(url);
      if (this.targets.size === KEPT_TARGETS) this.targets.clear();
      if (url.length <= LONGEST_KEPT_TARGET) this.targets.set(url, target);
    }
    return target;
  }

  private parse(url: string): URL | 'URL_REFUSED' | 'ADDRESS_REFUSED' {
    if (!URL.canParse(url)) return 'URL_REFUSED';
    const target = new URL(url);
    const { protocol, username, password, hostname } = target;
    if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return 'URL_REFUSED';
    // The URL parser has turned 0x7f.1, 2130706433 and the like into the usual notation.
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    return isIP(host) !== 0 && !this.filter.allows(host) ? 'ADDRESS_REFUSED' : target;
  }

  /** Those who ask for one name at the same time ask together: name servers limit how often they answer. */
  private addresses(hostname: string): Promise<string[]> {
    let asked = this.lookups.get(hostname);
    if (!asked) {
      asked = this.resolve(hostname).finally(() => this.lookups.delete(hostname));
      this.lookups.set(hostname, asked);
    }
    return asked;
  }

  /** Node calls this for every connection to a name, and connects to what it answers and to nothing else. */
  private readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.addresses(hostname).then(
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
