import type { CallResult } from './call.js';
import { type Failure, type FailureCode, isAgentsIfRepeated } from '../timeline/failure.js';
import type { Outcome } from '../../statistics/index.js';
import { truncate } from '../timeline/text.js';
import { decide } from './verdict.js';

/** Summary of one attempt at a call; plain JSON. The call's result is that of its last attempt. */
export interface Attempt {
  readonly outcome: Outcome;
  readonly failureCode: FailureCode | null;
  readonly reason: string;
  /** ISO 8601 timestamps. */
  readonly startedAt: string;
  readonly endedAt: string;
  /** The id that the agent received with this attempt (`CallExchange.callId`); null if it was not called. */
  readonly callId?: string | null;
  /** `CallResult.answeredTurns` */
  readonly answeredTurns?: number;
}

/** The summary of an attempt that ended with this result. @param times ISO 8601 timestamps */
export function attemptOf(result: CallResult, times: Pick<Attempt, 'startedAt' | 'endedAt'>): Attempt {
  const { outcome, failure, reason, exchange, answeredTurns } = result;
  return {
    outcome,
    failureCode: failure?.code ?? null,
    reason,
    startedAt: times.startedAt,
    endedAt: times.endedAt,
    callId: exchange?.callId ?? null,
    answeredTurns,
  };
}

/** What follows an attempt: the call ends with a result, or is retried after a delay in milliseconds. */
export type NextStep =
  { readonly next: 'end'; readonly result: CallResult } | { readonly next: 'retry'; readonly delayMs: number };

/** Delays before the retries of a call that ended as `error`; their number is the number of retries. */
const RETRY_DELAYS_MS = [1_000, 4_000] as const;
/** The longest `Retry-After` that is respected. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Retries of an `invalid` call. Without delay: a model's next answer differs by chance, not over time. */
const MAX_INVALID_RETRIES = 2;
/** Maximum length of what is said about one attempt in the reason of a failed call. */
const MAX_REASON = 1_000;

/**
 * Decides what follows one attempt at a call. Retries after `error` and after `invalid` are counted separately. A
 * failure that may be the network's is an `error`; if every attempt broke off through the agent (`isAgentsIfRepeated`), in
 * whichever ways, the call has `failed`.
 * @param earlier the earlier attempts, oldest first, without those that were interrupted
 */
export function afterAttempt(result: CallResult, earlier: readonly Attempt[]): NextStep {
  const before = (outcome: Outcome) => earlier.filter((attempt) => attempt.outcome === outcome).length;
  const { outcome, failure, answeredTurns } = result;
  if (outcome === 'invalid' && before('invalid') < MAX_INVALID_RETRIES) return { next: 'retry', delayMs: 0 };
  if (outcome !== 'error' || !failure) return { next: 'end', result };
  const mayBeAgents = isAgentsIfRepeated(failure.code, answeredTurns);
  if (!failure.retryable && !mayBeAgents) return { next: 'end', result };
  const backOffMs = RETRY_DELAYS_MS[before('error')];
  if (backOffMs !== undefined) {
    const retryAfterMs = Math.min(failure.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
    return { next: 'retry', delayMs: Math.max(backOffMs, retryAfterMs) };
  }
  const isAgents = mayBeAgents && earlier.every(wasAgents);
  return { next: 'end', result: isAgents ? blameAgent(result, failure, earlier) : result };
}

const wasAgents = ({ failureCode, answeredTurns = 0 }: Attempt): boolean =>
  failureCode !== null && isAgentsIfRepeated(failureCode, answeredTurns);

/** The same result with the failure attributed to the agent, and a reason that says what happened in each attempt. */
function blameAgent(result: CallResult, { code }: Failure, earlier: readonly Attempt[]): CallResult {
  const messages = [...earlier, result].map(({ reason }) => reason.replace(/\.$/, ''));
  const isSame = messages.every((one) => one === messages[0]);
  const all = isSame ? `${messages[0]}, in three of three attempts` : messages.map(nameAttempt).join('; ');
  const failure: Failure = { code, message: all, fault: 'agent', retryable: false };
  const { checks, criteria, end, invalidity } = result;
  return { ...result, ...decide({ checks, criteria, end, failure, invalidity: invalidity ?? undefined }) };
}

const ORDINALS = ['First', 'second', 'third'];
const nameAttempt = (message: string, index: number): string =>
  `${ORDINALS[index]} attempt: ${truncate(message, MAX_REASON)}`;
