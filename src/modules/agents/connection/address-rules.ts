import type { OutboundClient } from '../../../../libs/outbound-http/index.js';
import { httpAddressOf, isSipAddress, PLACEHOLDER, sipViolation } from '../../../platform/agent-address.js';

/** Characters of a URI (RFC 3986), and braces for placeholders. */
const URI = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;={}]|%[0-9a-f]{2})*$/i;
const NOT_ASCII = /[^\u0000-\u007f]/;
const IN_ASCII = ', in ASCII: write other characters as %C3%BC, and a host name as xn--…';
const PARTS = /^([a-z][a-z0-9+.-]*:)\/\/([^/?#]*)([^#]*)(.*)$/is;

/** What is wrong with the address of an agent, as the rest of a sentence about it; undefined if nothing is. */
export function addressViolation(
  url: string,
  schemes: readonly string[],
  outbound: OutboundClient,
): string | undefined {
  const violation = schemes.includes('sip:') && isSipAddress(url) ? sipViolation(url) : urlViolation(url, schemes);
  if (violation !== undefined) return violation;
  return outbound.check(httpAddressOf(url)) === undefined
    ? undefined
    : 'must not point to a private or reserved network unless OUTBOUND_ALLOWED_NETWORKS allows it';
}

function urlViolation(url: string, schemes: readonly string[]): string | undefined {
  const [, scheme = '', authority = '', , fragment = ''] = PARTS.exec(url) ?? [];
  if (!schemes.includes(scheme.toLowerCase()) || authority === '') return notAnAddress(schemes);
  if (!URI.test(url)) return `${notAnAddress(schemes)}${NOT_ASCII.test(url) ? IN_ASCII : ''}`;
  if (authority.includes('@')) return 'must not contain a user name or password: use headers';
  if (/[{}]/.test(authority + fragment)) return 'must have placeholders in its path and query only';
  if (/[{}]/.test(url.replace(PLACEHOLDER, ''))) {
    return 'must have no placeholder except {assistantId}, {phoneNumber} and {callId}';
  }
  return URL.canParse(url.replace(PLACEHOLDER, 'x')) ? undefined : notAnAddress(schemes);
}

const notAnAddress = (schemes: readonly string[]): string =>
  schemes.includes('sip:')
    ? 'must be an address such as sip:agent@sip.example.com;transport=tls'
    : `must be an absolute address that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`;
