import type { OtherSide } from '../../../other-side/other-side.js';
import { failure, type Failure, type FailureCode } from '../../../timeline/failure.js';
import type { PlatformRules, Refusal } from '../../http/platform-rules.js';

const KEY = 'check the apiKey of the agent: it must be a private key of the organisation';
const AGENT = 'check the assistantId of the agent, and that the apiKey is of the same organisation';
const CREDIT = 'check the credit and the payment method of the organisation';
const BUSY = 'wait, or raise the limit of the organisation on calls at once';
const EXPIRED = 'the call was awaited no longer: check that nothing delays WebSockets of this service to the platform';
const LENGTH = 'raise maxDurationSeconds of the assistant, or shorten the call';

/** What the platform means by its words, and what to do about it; the first that fits. */
const MEANINGS: readonly (readonly [RegExp, FailureCode, string])[] = [
  [/concurren|too.many|rate.?limit/i, 'rate_limited', BUSY],
  [/wallet|credit|payment|billing|subscription|card.details/i, 'platform_refused', CREDIT],
  [/max.?duration/i, 'platform_refused', LENGTH],
  [/transport-never-connected/i, 'not_ready', EXPIRED],
  [/invalid.(api.)?key|unauthori[sz]ed|forbidden|private.key/i, 'platform_refused', KEY],
  [/assistant.{0,60}(not.(found|exist|valid)|version)|couldn.t (get|find) assistant/i, 'platform_refused', AGENT],
];
/** Statuses of refusals that are the same at the next try. */
const BY_STATUS: Readonly<Record<number, string>> = {
  400: AGENT,
  401: KEY,
  402: CREDIT,
  403: KEY,
  404: AGENT,
  422: AGENT,
};

/** How the API of Vapi is asked. */
export const VAPI_RULES: PlatformRules = {
  vendorHost: /(^|\.)vapi\.ai\.?$/i,
  authorization: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  refused: refusedRequest,
};

function refusedRequest(platform: OtherSide, refusal: Refusal, byStatus: FailureCode): Failure {
  const { status, said } = refusal;
  const [, meant, cure = BY_STATUS[status]] = meaningOf(said);
  const refused = BY_STATUS[status] === undefined ? byStatus : 'platform_refused';
  const code = status === 429 || status >= 500 ? byStatus : (meant ?? refused);
  const what = cure === undefined ? `HTTP ${status}` : `HTTP ${status}, ${cure}`;
  return failure(code, platform.describe({ what, ...refusal }));
}

/** The call was created although the limit on calls at once is reached: it must not stay. */
export const blocked = (platform: OtherSide): Failure =>
  failure('platform_busy', platform.describe({ what: `the platform set concurrencyBlocked, ${BUSY}` }));

/** A WebSocket that was not opened: the platform awaits it for about 20 s. */
export const expired = (platform: OtherSide, { status, said }: Failure): Failure =>
  failure('not_ready', platform.describe({ what: `HTTP ${status}, ${EXPIRED}`, status, said }));

/** The agent or its settings ended the call. */
const BY_AGENT = /^(assistant-(ended|said|forwarded)|silence-timed-out|voicemail|call\.forwarding|call\.ending\.hook)/;
/** Answers to our own end of the call. */
const BY_US = /^(customer-ended-call|manually-canceled)$/;

/**
 * What the platform says of the end of a call: 597 reasons in its typings, which are read as text.
 * @returns `agent`, who hung up; a failure; undefined if it was ended from here
 */
export function endedBy(platform: OtherSide, reason: string): 'agent' | Failure | undefined {
  if (BY_US.test(reason)) return undefined;
  if (reason === '' || BY_AGENT.test(reason)) return 'agent';
  const [, meant = 'agent_error', cure] = meaningOf(reason);
  return failure(meant, platform.describe({ ...(cure !== undefined && { what: cure }), said: reason }));
}

/** Advice for a connection test. */
export function cureOf({ status = 0, said = '', code }: Failure): string | undefined {
  const cure = meaningOf(said)[2] ?? BY_STATUS[status] ?? (code === 'platform_busy' ? BUSY : undefined);
  return cure && `${cure[0]!.toUpperCase()}${cure.slice(1)}.`;
}

const meaningOf = (said: string): readonly [] | (typeof MEANINGS)[number] =>
  MEANINGS.find(([pattern]) => pattern.test(said)) ?? [];
