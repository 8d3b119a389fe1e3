import type { OtherSide } from '../../../other-side/other-side.js';
import { failure, type Failure } from '../../../timeline/failure.js';
import { type Meaning, type PlatformRules, Refusals, unopened } from '../../http/platform-rules.js';

const KEY = 'check the apiKey of the agent: it must be a private key of the organisation';
const AGENT = 'check the assistantId of the agent, and that the apiKey is of the same organisation';
const CREDIT = 'check the credit and the payment method of the organisation';
const BUSY = 'wait, or raise the limit of the organisation on calls at once';
const EXPIRED = 'the call was awaited no longer: check that nothing delays WebSockets of this service to the platform';
const LOG = 'read in Vapi what the log of the call says';
const LENGTH = 'raise maxDurationSeconds of the assistant, or shorten the call';

const MEANINGS: readonly Meaning[] = [
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

const REFUSALS = new Refusals(MEANINGS, BY_STATUS);

/** How the API of Vapi is asked. */
export const VAPI_RULES: PlatformRules = {
  vendorHost: /(^|\.)vapi\.ai\.?$/i,
  authorization: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  refused: REFUSALS.refused,
};

/** The call was created although the limit on calls at once is reached: it must not stay. */
export const blocked = (platform: OtherSide): Failure =>
  failure('platform_busy', platform.describe({ what: `the platform set concurrencyBlocked, ${BUSY}` }));

/** A WebSocket that was not opened: the platform awaits it for about 20 s. */
export const expired = (platform: OtherSide, found: Failure): Failure =>
  unopened(platform, found, 'not_ready', EXPIRED);

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
  const [, meant = 'agent_error', what = LOG] = REFUSALS.meaningOf(reason);
  return failure(meant, platform.describe({ what, said: reason }));
}

/** Advice for a connection test. */
export const cureOf = (found: Failure): string | undefined =>
  REFUSALS.cureOf(found, found.code === 'platform_busy' ? BUSY : undefined);
