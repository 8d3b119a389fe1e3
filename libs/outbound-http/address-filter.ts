import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, number];

/** Global unicast (RFC 4291); special-purpose ranges lie inside it. */
const GLOBAL_UNICAST_V6: Network = [ipaddr.parse('2000::'), 3];
/** Special-purpose ranges of IANA's registries that ipaddr.js reports as unicast. */
const MORE_SPECIAL: readonly Network[] = [
  [ipaddr.parse('192.88.99.0'), 24],
  [ipaddr.parse('2001::'), 23],
  [ipaddr.parse('2001:db8::'), 32],
  [ipaddr.parse('3fff::'), 20],
];

/** Allows connections to global unicast addresses and to the networks that the administrator lists. */
export class AddressFilter {
  private readonly allowed: readonly Network[];

  /** @param allowedNetworks in CIDR notation, for instance `10.1.0.0/16` or `fd00::/8` */
  constructor(allowedNetworks: readonly string[]) {
    this.allowed = allowedNetworks.map((network) => ipaddr.parseCIDR(network));
  }

  /** @param text an IP address in any notation; anything else is not allowed */
  allows(text: string): boolean {
    // The zone of a link-local address (`fe80::1%eth0`) names an interface, not a network.
    const bare = text.split('%', 1)[0] ?? '';
    if (!ipaddr.isValid(bare)) return false;
    // ::ffff:10.0.0.1 is as private as 10.0.0.1.
    const address = ipaddr.process(bare);
    return this.allowed.some((network) => contains(network, address)) || isGlobal(address);
  }
}

function isGlobal(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (MORE_SPECIAL.some((network) => contains(network, address))) return false;
  return address.kind() === 'ipv4' || contains(GLOBAL_UNICAST_V6, address);
}

function contains([base, length]: Network, address: Address): boolean {
  return base.kind() === address.kind() && address.match(base, length);
}
