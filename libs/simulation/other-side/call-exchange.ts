/**
 * What the tester and the agent exchanged in one attempt at a call, beside the words on the timeline: for finding out what
 * the agent really sent. Plain JSON without secrets, at most about 100 kB. Times are milliseconds of call time, as on the
 * timeline, to a tenth.
 */
export interface CallExchange {
  /** Name of the transport, such as `chat-completions`. */
  readonly protocol: string;
  /** The agent's address without secrets or, if it is the environment's, the name of the setting that contains it. */
  readonly url: string;
  /** UUID of this attempt, which the agent received as header `X-Call-Id` and as `{callId}` in its URL. */
  readonly callId: string;
  /** In order; at most `EXCHANGE_LIMITS.requests`. */
  readonly requests: readonly ExchangedRequest[];
  /** Number of further requests, which are not recorded. */
  readonly omittedRequests: number;
}

/** One request to the agent with its response. */
export interface ExchangedRequest {
  /** The caller's turn that it belongs to, as on the timeline: 0 for the greeting. */
  readonly turn: number;
  /** When the request was about to be sent; null if the connection failed before. */
  readonly sentAtMs: number | null;
  /** HTTP status; null without a response. */
  readonly status: number | null;
  /** When the headers of the response arrived; null without a response. */
  readonly firstByteMs: number | null;
  /** When each part of the agent's words arrived; at most `EXCHANGE_LIMITS.tokens`, and fewer in a long call. */
  readonly tokenTimesMs: readonly number[];
  /** `stop`, `tool_calls`, …; null if the answer was not complete. */
  readonly finishReason: string | null;
  /** The beginning of the piece of the response that was not understood; at most `EXCHANGE_LIMITS.excerpt` characters. */
  readonly unreadable?: string;
}

/** An answer of the tester's language model that could not be used. */
export interface UnusableAnswer {
  readonly task: 'caller' | 'judge';
  /** At most `UNUSABLE_ANSWER_LIMITS.text` characters. */
  readonly text: string;
}

/** Those of the caller, and then those of the judge about its role, up to the limit. */
export const withJudges = (
  answers: readonly UnusableAnswer[],
  judges: readonly UnusableAnswer[] = [],
): readonly UnusableAnswer[] =>
  [...answers.filter(({ task }) => task === 'caller'), ...judges].slice(0, UNUSABLE_ANSWER_LIMITS.answers);

export const EXCHANGE_LIMITS = {
  /** Requests of one attempt. */
  requests: 200,
  /** Times of one response. */
  tokens: 500,
  /** Times of one attempt. */
  allTokens: 5_000,
  /** Characters of what the other side sent. */
  excerpt: 500,
} as const;

export const UNUSABLE_ANSWER_LIMITS = { answers: 10, text: 2_000 } as const;
