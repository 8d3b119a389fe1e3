import type { OtherSide } from '../../../other-side/other-side.js';
import { failure, type Failure } from '../../../timeline/failure.js';
import { type Meaning, type PlatformRules, Refusals, sentence, unopened } from '../../http/platform-rules.js';
import type { PlatformError } from './messages.js';

const KEY = 'check the apiKey of the agent, and what it may do';
const AGENT = 'check the assistantId of the agent, and that the apiKey is of the same account and region';
const HISTORY = 'read in ElevenLabs what the history of the agent says about the conversation';
const EXPIRED = 'the signed address was no longer valid: check the clock of the service';
const SECURITY =
  'allow the override "Text only" in the security settings of the agent, or set the option textOnly to agent if the agent itself is text only';

const MEANINGS: readonly Meaning[] = [
  [
    /concurren|too.many|rate.?limit|system.busy/i,
    'rate_limited',
    'wait, or raise the limit of the account on calls at once',
  ],
  [/quota|credit|payment|subscription/i, 'platform_refused', 'check the credit and the plan of the account'],
  [/override/i, 'override_refused', SECURITY],
  [/dynamic.variable/i, 'platform_refused', 'give the connection the missing values in its option variables'],
  [
    /max(imum)?.?duration/i,
    'platform_refused',
    'raise the maximum duration in the settings of the agent, or shorten the call',
  ],
  [/expired|signature/i, 'platform_refused', EXPIRED],
  [/api.?key|unauthori[sz]ed|permission/i, 'platform_refused', KEY],
  [/not.found|not exist/i, 'platform_refused', AGENT],
];
/** Statuses of refusals that are the same at the next try. */
const BY_STATUS: Readonly<Record<number, string>> = {
  400: AGENT,
  401: KEY,
  402: KEY,
  403: KEY,
  404: AGENT,
  422: AGENT,
};

const REFUSALS = new Refusals(MEANINGS, BY_STATUS);

/** How the API of ElevenLabs is asked: the key of an account is sent in `xi-api-key` alone. */
export const ELEVENLABS_RULES: PlatformRules = {
  vendorHost: /(^|\.)elevenlabs\.io\.?$/i,
  authorization: (apiKey) => ({ 'xi-api-key': apiKey }),
  refused: REFUSALS.refused,
};

/** A WebSocket that was not opened: the platform refuses an address that has expired. */
export const refusedAddress = (platform: OtherSide, found: Failure): Failure =>
  unopened(platform, found, 'platform_refused', EXPIRED);

/** An error that ends the conversation. */
export function endedByError(platform: OtherSide, { code, said }: PlatformError): Failure {
  const [, meant = code === 1011 ? 'agent_error' : 'platform_refused', cure = HISTORY] = REFUSALS.meaningOf(said);
  const what = code === undefined ? cure : `code ${code}, ${cure}`;
  return failure(meant, platform.describe({ what, said }));
}

/** @returns why the platform closed the connection; undefined if it hung up or broke off. @param error its last one */
export function closedByError(
  platform: OtherSide,
  error: PlatformError | undefined,
  { code, reason }: { readonly code: number; readonly reason: string },
): Failure | undefined {
  if (!error && !isRefusal(code)) return undefined;
  const said = [error?.said ?? '', reason].filter((words) => words !== '').join('; ');
  return endedByError(platform, { code: error?.code ?? code, said });
}

/** Close codes with which the platform ends a conversation because of an error. */
const isRefusal = (code: number): boolean => code === 1002 || code === 1008 || code === 1011 || code >= 3_000;

/** Errors after which nothing follows. */
export const isFinal = (said: string): boolean => /max(imum)?.?duration/i.test(said);

/** The text-only conversation that was asked for is none. */
export const notTextOnly = (platform: OtherSide, isAsked: boolean): Failure =>
  failure(
    'override_refused',
    platform.describe({
      what: isAsked
        ? `the agent answers with audio, so the conversation is not text only: ${SECURITY}`
        : 'the agent answers with audio, so it is not text only: set the option textOnly to override',
    }),
  );

/** Advice for a connection test. */
export const cureOf = (found: Failure): string | undefined =>
  found.message.includes(EXPIRED)
    ? sentence(EXPIRED)
    : REFUSALS.cureOf(found, found.code === 'override_refused' ? SECURITY : undefined);
