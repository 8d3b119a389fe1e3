import { type OutboundClient, OutboundError, type OutboundFailure } from '../../../outbound-http/index.js';
import type { OtherSide } from '../../other-side/other-side.js';
import { CallFailure, type FailureCode } from '../../timeline/failure.js';

export const OUTBOUND_CODES: Readonly<Record<OutboundFailure, FailureCode>> = {
  URL_REFUSED: 'url_refused',
  ADDRESS_REFUSED: 'address_refused',
  NAME_NOT_FOUND: 'name_not_found',
  CONNECTION_FAILED: 'connection_failed',
  TLS_FAILED: 'tls_failed',
  BAD_RESPONSE: 'bad_response',
  HEADER_REFUSED: 'http_refused',
  TIMEOUT: 'timeout',
  // Only after hanging up, when events are ignored.
  ABORTED: 'internal',
};

/** The addresses of a host that may be reached, for a connection that the client does not make itself. @throws CallFailure */
export async function addressesOf(client: OutboundClient, url: string, agent: OtherSide): Promise<string[]> {
  return client.addressesOf(url).catch((cause: unknown) => {
    if (!(cause instanceof OutboundError)) throw cause;
    throw new CallFailure(OUTBOUND_CODES[cause.reason], agent.describe({}), { cause });
  });
}

/** Temporary statuses; 5xx statuses other than the agent's own count as temporary gateway errors. */
const TEMPORARY = new Set([408, 409, 425]);
/** Statuses of a server's own failure (RFC 9110 and related); gateways do not send them for a server behind them. */
const AGENT_ERRORS = new Set([500, 501, 505, 506, 507, 508, 510]);

export function codeOfStatus(status: number): FailureCode {
  if (status >= 300 && status < 400) return 'redirect';
  if (status === 429) return 'rate_limited';
  if (AGENT_ERRORS.has(status)) return 'agent_status';
  return status >= 500 || TEMPORARY.has(status) ? 'http_status' : 'http_refused';
}

/** Of a platform between this service and the agent, whose own errors are not those of the agent. */
export function codeOfPlatform(status: number): FailureCode {
  const code = codeOfStatus(status);
  return code === 'agent_status' ? 'http_status' : code;
}

/** Only the origin of the new address: its path and query may be secrets. */
export function redirection(location: string | undefined, url: string): string {
  if (location === undefined || !URL.canParse(location, url)) return '';
  const { origin, protocol } = new URL(location, url);
  if (origin === new URL(url).origin) return ' to another path';
  return ` to ${origin === 'null' ? protocol : origin}`;
}

/** Error codes of connections that existed. */
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** The error code of the system or of TLS, such as `ECONNREFUSED`. */
export const systemError = ({ systemCode }: OutboundError): string | undefined =>
  systemCode !== undefined && CLOSED.has(systemCode) ? 'the connection was closed without a response' : systemCode;
