/** Why a request got no answer; a closed set, so that callers can tell them apart and tests can name them. */
export const OUTBOUND_FAILURES = {
  URL_REFUSED: 'The address must be an absolute http or https address without user name and password',
  ADDRESS_REFUSED: 'The address leads to a network that must not be reached from here',
  NAME_NOT_FOUND: 'The host name could not be resolved',
  CONNECTION_FAILED: 'The connection could not be made or broke off',
  TLS_FAILED: 'No secure connection could be made',
  BAD_RESPONSE: 'The answer is no valid HTTP response, or its headers are too large',
  HEADER_REFUSED: 'A header of the request has characters that cannot be sent',
  TIMEOUT: 'The answer was not complete in time',
  ABORTED: 'The request was given up',
} as const;
export type OutboundFailure = keyof typeof OUTBOUND_FAILURES;

/**
 * A request that got no complete answer. The message is one fixed sentence per reason: it is shown to whoever entered
 * the address, and must not tell them about the network that this program stands in.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';

  constructor(
    readonly reason: OutboundFailure,
    options?: ErrorOptions,
  ) {
    super(OUTBOUND_FAILURES[reason], options);
  }
}
