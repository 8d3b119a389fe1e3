import { sanitizeText } from './text.js';

/** Why a call could not be carried out to its end; a closed set, so that results can be counted by it. */
export const FAILURES = {
  url_refused: ['infrastructure', false, "The agent's address is no usable http or https address"],
  address_refused: [
    'infrastructure',
    false,
    "The agent's address leads to a network that must not be reached (OUTBOUND_ALLOWED_NETWORKS)",
  ],
  name_not_found: ['infrastructure', true, "The agent's host name could not be resolved"],
  connection_failed: ['infrastructure', true, 'The agent could not be connected to'],
  tls_failed: ['infrastructure', true, 'No secure connection to the agent could be made'],
  bad_response: ['infrastructure', true, 'The agent answered with something that is no HTTP response'],
  timeout: ['infrastructure', true, "The agent's answer was not complete in time"],
  redirect: ['infrastructure', false, 'The agent answered with a redirect, which is not followed'],
  http_refused: ['infrastructure', false, 'The agent refused the request'],
  http_status: ['infrastructure', true, 'The agent, or a gateway in front of it, is not available for now'],
  agent_status: ['infrastructure', true, 'The agent answered with an error of its own'],
  stream_cut: ['infrastructure', true, "The agent's answer broke off"],
  invalid_answer: ['infrastructure', true, "The agent's answer is no chat completion"],
  answer_too_large: ['infrastructure', false, "The agent's answer is too large"],
  agent_error: ['infrastructure', true, 'The agent reported an error in its answer'],
  tool_loop: ['agent', false, 'The agent called tools again and again without answering'],
  no_language_model: ['infrastructure', false, 'No language model is configured, and the evaluation has no script'],
  llm_timeout: ['infrastructure', true, "The tester's language model did not answer in time"],
  llm_rate_limited: ['infrastructure', true, "The tester's language model refused further requests for now"],
  llm_unreachable: ['infrastructure', true, "The tester's language model could not be reached or broke off"],
  llm_status: ['infrastructure', true, "The tester's language model answered with an error status"],
  llm_refused: ['infrastructure', false, "The tester's language model refused the request"],
  llm_invalid_answer: ['infrastructure', true, "The tester's language model answered with no chat completion"],
  nothing_judged: ['infrastructure', false, 'Nothing that the evaluation asks could be decided'],
  internal: ['infrastructure', true, 'The tester itself failed'],
} as const satisfies Readonly<Record<string, readonly [Fault, boolean, string]>>;

/**
 * Whose fault a failure is: only the agent's own makes the call `failed`. What may be either's is infrastructure's as
 * long as it has happened once (`attempts.ts`).
 */
export type Fault = 'agent' | 'infrastructure';
export type FailureCode = keyof typeof FAILURES;

export interface Failure {
  readonly code: FailureCode;
  /** A sentence for people, without a full stop. */
  readonly message: string;
  readonly fault: Fault;
  /** Whether the same call may well succeed a moment later. */
  readonly retryable: boolean;
}

/** @param detail what more is known, of a few words, possibly the agent's own; never a secret */
export function failure(code: FailureCode, detail?: string): Failure {
  const [fault, retryable, sentence] = FAILURES[code];
  return { code, message: detail === undefined ? sentence : `${sentence}: ${sanitizeText(detail)}`, fault, retryable };
}

/** Carries a failure through code that throws. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  readonly failure: Failure;

  constructor(code: FailureCode, detail?: string, options?: ErrorOptions) {
    const found = failure(code, detail);
    super(found.message, options);
    this.failure = found;
  }
}

/** What an error means for the call; the cause of an unknown one is the developers' matter and not the result's. */
export const failureOf = (error: unknown): Failure =>
  error instanceof CallFailure ? error.failure : failure('internal', error instanceof Error ? error.name : undefined);
