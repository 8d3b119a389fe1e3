import { CallFailure } from '../timeline/failure.js';

/** Limits on what an agent may send in text, beside those of `READ_LIMITS`; agents are untrusted. */
export const ANSWER_LIMITS = {
  /** Characters of one server-sent event, or of an answer that is one JSON object. */
  event: 1024 * 1024,
  /** Characters that the agent says in one turn. */
  text: 256 * 1024,
  /** What the agent says and calls in one turn, where a platform reports whole messages. */
  messages: 100,
  /** Characters of one tool call's name and arguments. */
  toolCall: 64 * 1024,
  toolCalls: 32,
  /** Maximum number of requests that continue one turn after a tool result. */
  toolRounds: 8,
} as const;

/** For one complete HTTP response, in milliseconds. */
export const DEFAULT_ANSWER_TIMEOUT_MS = 60_000;
/**
 * How long the stream may stay open without an event, in milliseconds: after a `finish_reason`; after one for tool calls, which
 * many agents run themselves before they go on; where more has come after the reason.
 */
export const CLOSING_GRACE_MS = { reason: 1_000, toolCalls: 2_000, more: 10_000 } as const;

export const tooManyMessages = (): CallFailure =>
  new CallFailure('answer_too_large', `more than ${ANSWER_LIMITS.messages} messages`);
