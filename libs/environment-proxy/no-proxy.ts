import { BlockList, isIP } from 'node:net';

/**
 * Whether `NO_PROXY` exempts a URL. Entries are separated by commas or white space, as curl reads them: a host name with the
 * names below it, an address, a network (CIDR), `*` for all, each with a port if it holds for that port alone.
 */
export function isExempt({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const host = bare(hostname);
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  return noProxy.split(/[\s,]+/).some((entry) => {
    // An address of IPv6 without brackets has no port.
    const [, name = entry, wanted = ownPort] = /^(\[.*\]|[^:]+):(\d+)$/.exec(entry) ?? [];
    return wanted === ownPort && names(bare(name), host);
  });
}

/** The proxy's own loopback is another machine. */
export function isLoopback({ hostname }: URL): boolean {
  const host = bare(hostname);
  return ['localhost', '127.0.0.0/8', '::1'].some((name) => names(name, host));
}

/** In lower case, without brackets of IPv6 and the dot of a complete name. */
const bare = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');

function names(entry: string, host: string): boolean {
  if (entry === '' || entry === '*') return entry === '*';
  const version = isIP(host);
  if (version !== 0) return contains(entry, host, version);
  // `*.example.com` are only the names below it.
  if (entry.startsWith('*.')) return host.endsWith(entry.slice(1));
  const name = entry.replace(/^\./, '');
  return host === name || host.endsWith(`.${name}`);
}

function contains(entry: string, address: string, version: number): boolean {
  const [network = '', bits = version === 4 ? '32' : '128'] = entry.split('/');
  if (isIP(network) !== version || !/^\d{1,3}$/.test(bits) || Number(bits) > (version === 4 ? 32 : 128)) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(address, family);
}
