import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import type { Resolve } from './resolver.js';

/** A port of the service itself, or of a database that it uses. */
export interface OwnEndpoint {
  /** Host name or address; undefined for this machine. */
  readonly host?: string | undefined;
  readonly port: number;
}

/** Endpoints that must not be reached, although their network may be allowed: they would trust the service. */
export class OwnEndpoints {
  private readonly endpoints: readonly OwnEndpoint[];

  /** @param resolve looks up the names of hosts, each time that their port is asked for */
  constructor(
    endpoints: readonly OwnEndpoint[],
    private readonly resolve: Resolve,
  ) {
    this.endpoints = endpoints.filter(({ port }) => port > 0);
  }

  /** Whether an address and port are one of them. */
  async include(address: string, port: number): Promise<boolean> {
    const hosts = this.endpoints.filter((endpoint) => endpoint.port === port).map(({ host }) => host);
    if (hosts.length === 0) return false;
    const asked = canonical(address);
    const isLocalAddress = isLocal(asked);
    for (const host of hosts) {
      const addresses = await this.addressesOf(host);
      if (addresses.some((own) => own === asked || (isLocalAddress && isLocal(own)))) return true;
    }
    return false;
  }

  private async addressesOf(host: string | undefined): Promise<string[]> {
    if (host === undefined) return [LOOPBACK];
    if (isIP(host) !== 0) return [canonical(host)];
    return (await this.resolve(host).catch(() => [])).map(canonical);
  }
}

const LOOPBACK = '127.0.0.1';

/** One notation of each address; `::ffff:10.0.0.1` is 10.0.0.1. */
const canonical = (address: string): string => ipaddr.process(address.split('%', 1)[0] ?? '').toString();

/** Whether a canonical address leads to this machine. */
function isLocal(address: string): boolean {
  const range = ipaddr.parse(address).range();
  if (range === 'loopback' || range === 'unspecified') return true;
  return Object.values(networkInterfaces()).some((all) => all?.some((own) => canonical(own.address) === address));
}
