import { sanitizeText } from './text.js';

/** Why a call did not complete: infrastructure or agent, retryable or not, message. A closed set, so that results can be grouped. */
export const FAILURES = {
  url_refused: ['infrastructure', false, "The agent's URL is not a valid http or https URL"],
  address_refused: [
    'infrastructure',
    false,
    "The agent's address is in a network that is not allowed (OUTBOUND_ALLOWED_NETWORKS)",
  ],
  name_not_found: ['infrastructure', true, "The agent's host name could not be resolved"],
  connection_failed: ['infrastructure', true, 'Could not connect to the agent'],
  tls_failed: ['infrastructure', true, 'The TLS handshake with the agent failed'],
  bad_response: ['infrastructure', true, 'The agent did not send a valid HTTP response'],
  timeout: ['infrastructure', true, "The agent's response was not complete in time"],
  redirect: ['infrastructure', false, 'The agent responded with a redirect; redirects are not followed'],
  http_refused: ['infrastructure', false, 'The agent refused the request'],
  http_status: ['infrastructure', true, 'The agent or a gateway in front of it is temporarily unavailable'],
  agent_status: ['infrastructure', true, 'The agent responded with a server error'],
  stream_cut: ['infrastructure', true, "The agent's response was cut off"],
  invalid_answer: ['infrastructure', true, "The agent's response is not a chat completion"],
  answer_too_large: ['infrastructure', false, "The agent's response is too large"],
  agent_error: ['infrastructure', true, 'The agent reported an error in its response'],
  tool_loop: ['agent', false, 'The agent kept calling tools without responding'],
  no_language_model: ['infrastructure', false, 'No language model is configured, and the evaluation has no script'],
  llm_timeout: ['infrastructure', true, "The tester's language model did not respond in time"],
  llm_rate_limited: ['infrastructure', true, "The tester's language model is rate-limiting requests"],
  llm_unreachable: ['infrastructure', true, "The tester's language model was unreachable, or the connection broke off"],
  llm_status: ['infrastructure', true, "The tester's language model responded with an error status"],
  llm_refused: ['infrastructure', false, "The tester's language model refused the request"],
  llm_invalid_answer: ['infrastructure', true, "The response of the tester's language model is not a chat completion"],
  nothing_judged: ['infrastructure', false, 'None of the criteria could be decided'],
  internal: ['infrastructure', true, 'Internal error of the tester'],
} as const satisfies Readonly<Record<string, readonly [Fault, boolean, string]>>;

/**
 * Whose fault a failure is: only `agent` makes the call `failed`. Failures that may be either's are `infrastructure` until
 * they are reproduced (`attempts.ts`).
 */
export type Fault = 'agent' | 'infrastructure';
export type FailureCode = keyof typeof FAILURES;

export interface Failure {
  readonly code: FailureCode;
  /** A sentence without full stop. */
  readonly message: string;
  readonly fault: Fault;
  /** Whether the same call may succeed if retried. */
  readonly retryable: boolean;
}

/** @param detail a few words of further information, possibly from the agent; never a secret */
export function failure(code: FailureCode, detail?: string): Failure {
  const [fault, retryable, sentence] = FAILURES[code];
  return { code, message: detail === undefined ? sentence : `${sentence}: ${sanitizeText(detail)}`, fault, retryable };
}

/** A failure as an exception. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  readonly failure: Failure;

  constructor(code: FailureCode, detail?: string, options?: ErrorOptions) {
    const found = failure(code, detail);
    super(found.message, options);
    this.failure = found;
  }
}

/** Converts an error to a failure. The message of an unknown error is not part of the result. */
export const failureOf = (error: unknown): Failure =>
  error instanceof CallFailure ? error.failure : failure('internal', error instanceof Error ? error.name : undefined);
