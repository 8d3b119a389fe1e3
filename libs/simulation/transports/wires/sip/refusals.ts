import type { SipFailure, SipFailureKind } from '../../../../sip/index.js';
import type { OtherSide } from '../../../other-side/other-side.js';
import { failure, type Failure, type FailureCode } from '../../../timeline/failure.js';

const CODES: Readonly<Record<SipFailureKind, FailureCode>> = {
  busy: 'busy',
  no_answer: 'no_answer',
  no_such_user: 'platform_refused',
  refused: 'platform_refused',
  codec_refused: 'codec_refused',
  unavailable: 'connection_failed',
  redirected: 'redirected',
  broken: 'broken_sip',
  disconnected: 'connection_failed',
  cancelled: 'interrupted',
};
/** The other side has no line free: waited for, without an attempt. */
const BUSY_STATUSES: ReadonlySet<number | undefined> = new Set([430, 491, 503]);

/** What a call that did not come about means. @param srtp whether the connection requires it */
export function failureOfSip(agent: OtherSide, found: SipFailure, srtp: boolean): Failure {
  const { failure: kind, status, reason, retryAfter } = found;
  const code = kind === 'unavailable' && BUSY_STATUSES.has(status) ? 'platform_busy' : CODES[kind];
  const hint = kind === 'no_such_user' ? ', no such number or user' : kind === 'codec_refused' ? codecHint(srtp) : '';
  return failure(
    code,
    agent.describe({
      what: status === undefined ? `${reason}${hint}` : `SIP ${status}${hint}`,
      said: status === undefined ? undefined : reason,
      retryAfterMs: retryAfter === undefined ? undefined : retryAfter * 1_000,
    }),
  );
}

const codecHint = (srtp: boolean): string =>
  srtp
    ? ', PCMU and PCMA with SRTP were offered: set the option srtp to off, or allow SDES keys there'
    : ', PCMU and PCMA without SRTP were offered: set the option srtp to require if the platform wants SRTP, or allow G.711 there';

/** Advice for a failed step of the connection test; undefined for the general one. */
export function cureOf(step: string, { code }: Failure): string | undefined {
  switch (code) {
    case 'line_lost':
      return step === 'media' ? NO_MEDIA : undefined;
    case 'busy':
    case 'platform_busy':
      return 'Wait until the line is free, or raise the number of calls at once there.';
    case 'no_answer':
      return 'Check that the agent takes calls at this address, and answers within 60 s.';
    case 'platform_refused':
      return 'Check the user or number of the address, the credentials, and who may call there.';
    case 'codec_refused':
      return 'Set the option srtp as the platform wants it, and allow PCMU or PCMA there.';
    case 'redirected':
      return 'Connect the address to which the platform redirects, if it is yours.';
    case 'broken_sip':
      return 'Read in the log of the platform what it sent: the message cannot be used.';
    default:
      return undefined;
  }
}

const NO_MEDIA =
  'Media of the platform does not reach this service. Set SIP_PUBLIC_ADDRESS to the address under which it is reached from there, ' +
  'and SIP_MEDIA_PORTS to a range of UDP ports that the firewall or container lets in; with both set, check that range there.';
