import { ProxyRefusal } from '../environment-proxy/index.js';

/** Why a request got no complete response. */
export const OUTBOUND_FAILURES = {
  URL_REFUSED: 'The address must be an absolute http or https address without user name and password',
  ADDRESS_REFUSED: 'The address is in a network that must not be reached from here',
  NAME_NOT_FOUND: 'The host name could not be resolved',
  CONNECTION_FAILED: 'The connection could not be established or was interrupted',
  TLS_FAILED: 'No secure connection could be established',
  BAD_RESPONSE: 'The response is not valid HTTP, or its headers are too large',
  HEADER_REFUSED: 'A header of the request has characters that are not allowed',
  TIMEOUT: 'The response was not complete in time',
  ABORTED: 'The request was aborted',
} as const;
export type OutboundFailure = keyof typeof OUTBOUND_FAILURES;

/**
 * A request that got no complete response. The message is a fixed sentence per reason, or that of a proxy's refusal: it is
 * shown to the user who entered the URL and must not reveal anything about the internal network.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';

  constructor(
    readonly reason: OutboundFailure,
    options?: ErrorOptions,
  ) {
    super(options?.cause instanceof ProxyRefusal ? options.cause.message : OUTBOUND_FAILURES[reason], options);
  }

  /** The error code of the system or of TLS, such as `ECONNREFUSED`; not part of the message. */
  get systemCode(): string | undefined {
    const { code } = (this.cause ?? {}) as { code?: unknown };
    return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : undefined;
  }
}
