import type { IncomingResponseMessage } from 'sip.js/lib/core/index.js';

/**
 * Why no call came about, or a registration failed: `unavailable` may be tried again, `redirected` is not followed,
 * `broken` is a fault of the other side's protocol, `disconnected` one of the connection.
 */
export type SipFailureKind =
  | 'busy'
  | 'no_answer'
  | 'no_such_user'
  | 'refused'
  | 'codec_refused'
  | 'unavailable'
  | 'redirected'
  | 'broken'
  | 'disconnected'
  | 'cancelled';

export interface SipFailure {
  readonly failure: SipFailureKind;
  /** The other side's status; undefined if it sent none. */
  readonly status?: number;
  /** In the other side's words where it sent any. */
  readonly reason: string;
  /** Seconds, at most 60. */
  readonly retryAfter?: number;
}

const BY_STATUS: Record<number, SipFailureKind> = {
  404: 'no_such_user',
  408: 'no_answer',
  410: 'no_such_user',
  415: 'codec_refused',
  430: 'unavailable',
  480: 'no_answer',
  484: 'no_such_user',
  486: 'busy',
  487: 'no_answer',
  488: 'codec_refused',
  491: 'unavailable',
  500: 'unavailable',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
  600: 'busy',
  604: 'no_such_user',
  606: 'codec_refused',
};

const MOST_SECONDS = 60;
const MOST_CHARACTERS = 300;

/** The failure that a final response of 300 or more means. */
export function failureOf(message: IncomingResponseMessage): SipFailure {
  const status = message.statusCode ?? 0;
  const failure = status < 400 ? 'redirected' : (BY_STATUS[status] ?? 'refused');
  const seconds = /^\s*(\d+)/.exec(message.getHeader('retry-after') ?? '')?.[1];
  return {
    failure,
    status,
    reason: reasonOf(message, message.reasonPhrase),
    ...(seconds === undefined ? {} : { retryAfter: Math.min(Number(seconds), MOST_SECONDS) }),
  };
}

interface Headers {
  getHeaders(name: string): string[];
}

/** The texts of X-Twilio-Error, Reason (RFC 3326) and Warning; without them the reason phrase. */
export function reasonOf(message: Headers, phrase = ''): string {
  const values = (name: string): string[] => message.getHeaders(name).map((value) => value.slice(0, MOST_CHARACTERS));
  const said = [
    ...values('x-twilio-error'),
    ...values('reason').map((value) => /text\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(value)?.[1] ?? value),
    ...values('warning').map((value) => /"((?:[^"\\]|\\.)*)"/.exec(value)?.[1] ?? value),
  ];
  return printable([...new Set(said.filter((text) => text.trim() !== ''))].join('; ') || phrase);
}

/** Causes of Q.850 that a network gives, not who is called: out of order, congested, without circuit, or a timer that expired. */
const NETWORK_CAUSES: ReadonlySet<number> = new Set([27, 34, 38, 41, 42, 43, 44, 46, 47, 102]);

/**
 * Whether a Reason (RFC 3326) of BYE says that a network ended the call: by its cause, by a status of 408 or 5xx, or because
 * no media came.
 */
export const isNetworkFault = (message: Headers): boolean =>
  message.getHeaders('reason').some((value) => {
    if (/\b(?:rtp|media)[ _-]?time-?out/i.test(value)) return true;
    const [, protocol, cause] = /^\s*(SIP|Q\.850)\b.*?;\s*cause\s*=\s*(\d{1,3})\b/i.exec(value) ?? [];
    if (protocol === undefined) return false;
    const number = Number(cause);
    return /^sip$/i.test(protocol) ? number === 408 || (number >= 500 && number < 600) : NETWORK_CAUSES.has(number);
  });

/** Without control characters, at most 300 characters. */
export const printable = (text: string): string =>
  text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MOST_CHARACTERS);
