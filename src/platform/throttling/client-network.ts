import ipaddr from 'ipaddr.js';

/**
 * Parts of 16 bits: every customer of an IPv6 provider holds at least 64 bits of addresses, so that counting single
 * ones would count nothing.
 */
const IPV6_NETWORK_PARTS = 4;

/**
 * What a client address is counted as: an IPv4 address as it is (also when written as IPv4-mapped IPv6), an IPv6
 * address as its /64 network.
 */
export function clientNetwork(ip: string | undefined): string {
  const bare = ip === undefined ? '' : withoutPort(ip);
  if (!ipaddr.isValid(bare)) return 'unknown';
  const address = ipaddr.process(bare);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const network = address.parts.slice(0, IPV6_NETWORK_PARTS).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** Some proxies write the port into `X-Forwarded-For`, and an IPv6 address into brackets. */
function withoutPort(ip: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(ip)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(ip)?.[1] ?? ip;
}
