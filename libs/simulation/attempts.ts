import type { CallResult } from './call.js';
import type { Failure, FailureCode } from './failure.js';
import type { Outcome } from '../statistics/index.js';
import { decide } from './verdict.js';

/** What one attempt at a call came to; plain JSON. Only the last attempt's whole result is the call's. */
export interface Attempt {
  readonly outcome: Outcome;
  readonly failureCode: FailureCode | null;
  readonly reason: string;
  /** Moments as ISO 8601 has them. */
  readonly startedAt: string;
  readonly endedAt: string;
}

/** What follows an attempt: the call's result, or another attempt after so many milliseconds. */
export type NextStep =
  { readonly next: 'end'; readonly result: CallResult } | { readonly next: 'retry'; readonly delayMs: number };

/** Waits before the retries of a call that ended as `error`; there are no more retries than waits. */
const RETRY_DELAYS_MS = [1_000, 4_000] as const;
/** Reruns of a call whose caller broke its role; chance decides what a model says, so that waiting would not help. */
const MAX_RERUNS = 2;
const EVERY_TIME = 'three times out of three';

/** What the network may do once, but only the agent itself does each time that the call comes to it. */
const OWN_BREAKING: ReadonlySet<FailureCode> = new Set(['agent_status', 'stream_cut']);

/**
 * Decides what follows one attempt at a call. Retries after an `error` and reruns of an `invalid` call have budgets of
 * their own. A breaking that may be the network's is an `error`; when it was the same in every attempt, it is the
 * agent's, and the call has `failed`.
 * @param earlier the attempts before, in any order
 */
export function afterAttempt(result: CallResult, earlier: readonly Attempt[]): NextStep {
  const before = (outcome: Outcome) => earlier.filter((attempt) => attempt.outcome === outcome).length;
  const { outcome, failure } = result;
  if (outcome === 'invalid' && before('invalid') < MAX_RERUNS) return { next: 'retry', delayMs: 0 };
  if (outcome !== 'error' || !failure?.retryable) return { next: 'end', result };
  const delayMs = RETRY_DELAYS_MS[before('error')];
  if (delayMs !== undefined) return { next: 'retry', delayMs };
  const isReproduced = OWN_BREAKING.has(failure.code) && earlier.every((one) => one.failureCode === failure.code);
  return { next: 'end', result: isReproduced ? blamed(result, failure) : result };
}

/** The same call with the failure as the agent's own. */
function blamed(result: CallResult, { code, message }: Failure): CallResult {
  const failure: Failure = { code, message: `${message}, ${EVERY_TIME}`, fault: 'agent', retryable: false };
  const { checks, criteria, end, invalidity } = result;
  return { ...result, ...decide({ checks, criteria, end, failure, invalidity: invalidity ?? undefined }) };
}
