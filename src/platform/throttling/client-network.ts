import ipaddr from 'ipaddr.js';

/** Every customer of an IPv6 provider holds at least this much: counting single addresses would count nothing. */
const IPV6_PREFIX_BITS = 64;

/**
 * What a client address is counted as: an IPv4 address as it is (also when written as IPv4-mapped IPv6), an IPv6
 * address as its /64 network.
 */
export function clientNetwork(ip: string | undefined): string {
  if (ip === undefined || !ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString().replace(/%.*/, '')}/${IPV6_PREFIX_BITS}`);
  return `${network.toString()}/${IPV6_PREFIX_BITS}`;
}
