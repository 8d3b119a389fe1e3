import type { CallResult } from './call.js';
import type { Failure, FailureCode } from './failure.js';
import type { Outcome } from '../statistics/index.js';
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
/** Retries of an `invalid` call. Without delay: a model's next answer differs by chance, not over time. */
const MAX_INVALID_RETRIES = 2;
const EVERY_TIME = 'in three of three attempts';

/** Failures that the network may cause once, but that are the agent's if they happen in every attempt. */
const BLAMED_WHEN_REPRODUCED: ReadonlySet<FailureCode> = new Set(['agent_status', 'stream_cut']);

/**
 * Decides what follows one attempt at a call. Retries after `error` and after `invalid` are counted separately. A
 * failure that may be the network's is an `error`; if it was the same in every attempt, the call has `failed`.
 * @param earlier the earlier attempts, in any order
 */
export function afterAttempt(result: CallResult, earlier: readonly Attempt[]): NextStep {
  const before = (outcome: Outcome) => earlier.filter((attempt) => attempt.outcome === outcome).length;
  const { outcome, failure } = result;
  if (outcome === 'invalid' && before('invalid') < MAX_INVALID_RETRIES) return { next: 'retry', delayMs: 0 };
  if (outcome !== 'error' || !failure?.retryable) return { next: 'end', result };
  const delayMs = RETRY_DELAYS_MS[before('error')];
  if (delayMs !== undefined) return { next: 'retry', delayMs };
  const isReproduced =
    BLAMED_WHEN_REPRODUCED.has(failure.code) && earlier.every((one) => one.failureCode === failure.code);
  return { next: 'end', result: isReproduced ? blameAgent(result, failure) : result };
}

/** The same result with the failure attributed to the agent. */
function blameAgent(result: CallResult, { code, message }: Failure): CallResult {
  const failure: Failure = { code, message: `${message}, ${EVERY_TIME}`, fault: 'agent', retryable: false };
  const { checks, criteria, end, invalidity } = result;
  return { ...result, ...decide({ checks, criteria, end, failure, invalidity: invalidity ?? undefined }) };
}
