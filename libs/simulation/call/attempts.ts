import type { CallResult } from './call.js';
import { type Failure, failure, type FailureCode, isAgentsIfRepeated } from '../timeline/failure.js';
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
/**
 * Delays after attempts that the tester spoilt, each half more or less at random: what overloaded it may take longer to
 * end, and the calls that it spoilt together must not start together again.
 */
const SPOILT_DELAYS_MS = [2_000, 10_000] as const;
const SPREAD = 0.5;
const SPOILT_BY_TESTER: ReadonlySet<FailureCode> = new Set(['tester_overloaded', 'speech_failed', 'internal']);
/** The longest `Retry-After` that is respected. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Retries of an `invalid` call. Without delay: a model's next answer differs by chance, not over time. */
const MAX_INVALID_RETRIES = 2;
/** Maximum length of what is said about one attempt in the reason of a failed call. */
const MAX_REASON = 1_000;

/**
 * Whether the process or thread that carried the attempt ended before it: that says nothing about the agent, and the
 * attempt is not one of the retries.
 */
export const wasCutOff = ({ failureCode }: Pick<Attempt, 'failureCode'>): boolean =>
  failureCode === 'interrupted' || failureCode === 'thread_ended';

const endedThreads = (attempts: readonly Attempt[]): number =>
  attempts.filter(({ failureCode }) => failureCode === 'thread_ended').length;

/** Whether the call lost that many threads and may be the cause: its next attempt runs without others. */
export const isSuspect = (attempts: readonly Attempt[]): boolean => endedThreads(attempts) >= SPOILT_DELAYS_MS.length;

/**
 * Decides what follows one attempt at a call. Retries after `error`, after `invalid` and after the end of a thread are
 * counted separately. A failure that may be the network's is an `error`; if every attempt broke off through the agent
 * (`isAgentsIfRepeated`), in whichever ways, the call has `failed`.
 * @param all the earlier attempts, oldest first
 * @param isLast whether the call must not be tried again: its paid attempts are used up
 * @param random 0 to 1
 */
export function afterAttempt(
  result: CallResult,
  all: readonly Attempt[],
  { isLast = false, random = Math.random }: { isLast?: boolean; random?: () => number } = {},
): NextStep {
  const earlier = all.filter((attempt) => !wasCutOff(attempt));
  const before = (outcome: Outcome) => earlier.filter((attempt) => attempt.outcome === outcome).length;
  const { outcome, failure: broken, answeredTurns } = result;
  if (outcome === 'invalid' && !isLast && before('invalid') < MAX_INVALID_RETRIES) return { next: 'retry', delayMs: 0 };
  if (outcome !== 'error' || !broken) return { next: 'end', result };
  const spoiltDelayMs = (count: number) => {
    const delayMs = isLast ? undefined : SPOILT_DELAYS_MS[count];
    return delayMs === undefined ? undefined : delayMs * (1 + SPREAD * (2 * random() - 1));
  };
  if (broken.code === 'thread_ended') {
    const delayMs = spoiltDelayMs(endedThreads(all));
    if (isLast) return { next: 'end', result };
    return delayMs === undefined ? { next: 'end', result: withoutThread(result) } : { next: 'retry', delayMs };
  }
  const mayBeAgents = isAgentsIfRepeated(broken.code, answeredTurns);
  if (!broken.retryable && !mayBeAgents) return { next: 'end', result };
  const isSpoilt = SPOILT_BY_TESTER.has(broken.code);
  const networkDelayMs = isLast ? undefined : RETRY_DELAYS_MS[before('error')];
  const backOffMs = isSpoilt ? spoiltDelayMs(before('error')) : networkDelayMs;
  if (backOffMs !== undefined) {
    const retryAfterMs = Math.min(broken.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
    return { next: 'retry', delayMs: Math.max(backOffMs, retryAfterMs) };
  }
  // One attempt alone may have been cut by the network.
  const isAgents = mayBeAgents && earlier.length > 0 && earlier.every(wasAgents);
  return { next: 'end', result: isAgents ? blameAgent(result, broken, earlier) : result };
}

const wasAgents = ({ failureCode, answeredTurns = 0 }: Attempt): boolean =>
  failureCode !== null && isAgentsIfRepeated(failureCode, answeredTurns);

/** The same result as an internal error: every thread in which the call ran has ended. */
const withoutThread = (result: CallResult): CallResult =>
  withFailure(result, failure('internal', 'the thread that carried the call ended in three attempts'));

/** The same result with the failure attributed to the agent, and a reason that says what happened in each attempt. */
function blameAgent(result: CallResult, { code }: Failure, earlier: readonly Attempt[]): CallResult {
  const messages = [...earlier, result].map(({ reason }) => reason.replace(/\.$/, ''));
  const isSame = messages.every((one) => one === messages[0]);
  const number = messages.length === 2 ? 'two' : 'three';
  const all = isSame ? `${messages[0]}, in ${number} of ${number} attempts` : messages.map(nameAttempt).join('; ');
  return withFailure(result, { code, message: all, fault: 'agent', retryable: false });
}

function withFailure(result: CallResult, failure: Failure): CallResult {
  const { checks, criteria, end, invalidity } = result;
  return { ...result, ...decide({ checks, criteria, end, failure, invalidity: invalidity ?? undefined }) };
}

const ORDINALS = ['First', 'second', 'third'];
const nameAttempt = (message: string, index: number): string =>
  `${ORDINALS[index]} attempt: ${truncate(message, MAX_REASON)}`;
