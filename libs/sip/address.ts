export type SipTransport = 'tcp' | 'tls';

/** Where a call goes. `user` is as written, with its percent escapes. */
export interface SipAddress {
  readonly user: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly transport: SipTransport;
}

/** An address that this library does not call. The message names the part and the cause. */
export class SipAddressError extends Error {}

const USER = /^(?:[\w\-.!~*'()&=+$,;?/]|%[0-9a-f]{2})+$/i;
const NAME = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.?$/;
const IPV6 = /^\[[0-9a-f:.]{2,45}\]$/;

/**
 * Reads `sip:user@host:port;transport=tcp`. Ports default to 5060, with TLS to 5061; `sips:` means TLS, and no `transport` TCP.
 *
 * @throws SipAddressError if a part is missing, wrong or not supported.
 */
export function parseSipAddress(text: string): SipAddress {
  const scheme = /^(sips?):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) throw new SipAddressError('must begin with "sip:" or "sips:"');
  const rest = text.slice(scheme.length + 1);
  const at = rest.lastIndexOf('@');
  const user = at < 0 ? undefined : rest.slice(0, at);
  if (user?.includes(':')) throw new SipAddressError('must not have a password');
  if (user !== undefined && !USER.test(user))
    throw new SipAddressError('has a character in the user that is not allowed');
  const [hostPort = '', ...parameters] = rest.slice(at + 1).split(';');
  if (rest.slice(at + 1).includes('?')) throw new SipAddressError('must not have headers ("?")');
  const [, host = '', portText] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(hostPort.toLowerCase()) ?? [];
  if (!NAME.test(host) && !IPV6.test(host)) throw new SipAddressError('has no valid host');
  if (portText !== undefined && !/^[1-9]\d{0,4}$/.test(portText)) throw new SipAddressError('has no valid port');
  const named = transportOf(parameters);
  const transport = scheme === 'sips' ? 'tls' : (named ?? 'tcp');
  const port = portText === undefined ? (transport === 'tls' ? 5061 : 5060) : Number(portText);
  if (port > 65_535) throw new SipAddressError('has no valid port');
  return { user, host, port, transport };
}

function transportOf(parameters: readonly string[]): SipTransport | undefined {
  if (parameters.length === 0) return undefined;
  const [, transport] = /^transport=(tcp|tls)$/i.exec(parameters[0] ?? '') ?? [];
  if (parameters.length > 1 || transport === undefined) {
    throw new SipAddressError('may only have the parameter "transport", with "tcp" or "tls"');
  }
  return transport.toLowerCase() as SipTransport;
}

/** The address as it is sent: always `sip:`, because far sides answer `sips:` requests with 416. */
export function addressText({ user, host, port, transport }: SipAddress): string {
  return `sip:${user === undefined ? '' : `${user}@`}${host}:${port};transport=${transport}`;
}

/** Scheme, host and port, without the user: what secrets, capacity and filters are bound to. */
export const originOf = (address: SipAddress): string => addressText({ ...address, user: undefined });

/**
 * The digits, with `+` if there is one, of a user part that a telephone exchange could take for a number: without separators,
 * escapes and parameters. What begins with `+` and a digit is such a number, whatever follows. Undefined for a name.
 */
export function numberOf(user: string): string | undefined {
  const [bare = ''] = unescaped(user).normalize('NFKC').split(';');
  const text = bare.replace(/[^\p{L}\p{N}+]/gu, '');
  return /\p{N}/u.test(text) && (!/\p{L}/u.test(text) || /^\+\p{N}/u.test(text)) ? text : undefined;
}

/** The number of a user without the sign of an international one, so that `+49…`, `0049…` and `49…` are the same. */
export const digitsOf = (user: string): string | undefined => numberOf(user)?.replace(/^(?:\+|00)/, '');

/** Without escapes, nor those that appear when they are decoded; bytes that are not UTF-8 are left out. */
function unescaped(user: string): string {
  const text = user.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8').replaceAll('\ufffd', ''),
  );
  return text === user ? text : unescaped(text);
}
