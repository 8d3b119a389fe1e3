/** Limits on what an agent may send; agents are untrusted. */
export const ANSWER_LIMITS = {
  /** Bytes of one HTTP answer. */
  bytes: 4 * 1024 * 1024,
  /** Characters of one server-sent event, or of an answer that is one JSON object. */
  event: 1024 * 1024,
  /** Characters that the agent says in one turn. */
  text: 256 * 1024,
  /** Characters of one tool call's name and arguments. */
  toolCall: 64 * 1024,
  toolCalls: 32,
  /** Maximum number of requests that continue one turn after a tool result. */
  toolRounds: 8,
} as const;

/** For one complete HTTP response, in milliseconds. */
export const DEFAULT_ANSWER_TIMEOUT_MS = 60_000;
/** How long the stream may stay open after the answer is complete, in milliseconds. */
export const CLOSING_GRACE_MS = 500;
