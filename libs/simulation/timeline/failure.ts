import { sanitizeText } from './text.js';

/**
 * Why a call did not complete: who is to blame, whether the call is retried, message. A closed set, so that results can be
 * grouped.
 */
export const FAILURES = {
  url_refused: ['infrastructure', false, "The agent's URL is not a valid http or https URL"],
  address_refused: [
    'infrastructure',
    false,
    "The agent's address is in a network that is not allowed (OUTBOUND_ALLOWED_NETWORKS)",
  ],
  connection_changed: [
    'infrastructure',
    false,
    "The protocol of the agent's connection is not the one that the run was started with",
  ],
  name_not_found: ['infrastructure', true, "The agent's host name could not be resolved"],
  connection_failed: ['agent_after_answer', true, 'Could not connect to the agent'],
  tls_failed: ['agent_after_answer', true, 'The TLS handshake with the agent failed'],
  bad_response: ['agent_after_answer', true, 'The agent did not send a valid HTTP response'],
  timeout: ['agent_after_answer', true, "The agent's response was not complete in time"],
  redirect: ['agent_after_answer', false, 'The agent responded with a redirect; redirects are not followed'],
  http_refused: ['agent_after_answer', false, 'The agent refused the request'],
  rate_limited: ['infrastructure', true, 'The agent is rate-limiting requests'],
  http_status: ['agent_after_answer', true, 'The agent or a gateway in front of it is temporarily unavailable'],
  agent_status: ['agent_if_repeated', true, 'The agent responded with a server error'],
  stream_cut: ['agent_if_repeated', true, "The agent's response was cut off"],
  invalid_answer: ['agent_after_answer', true, "The agent's response is not a chat completion"],
  invalid_twiml: ['agent_after_answer', true, "The agent's response is not TwiML that connects a media stream"],
  answer_too_large: ['agent_after_answer', false, "The agent's response is too large"],
  agent_error: ['agent_after_answer', true, 'The agent reported an error in its response'],
  connection_lost: ['agent_after_answer', true, 'The connection to the agent broke off'],
  tool_result_missing: ['infrastructure', false, 'The evaluation has no result for a tool call of the agent'],
  tool_loop: ['agent', false, 'The agent kept calling tools without responding'],
  no_language_model: ['infrastructure', false, 'No language model is configured, and the evaluation has no script'],
  llm_timeout: ['infrastructure', true, "The tester's language model did not respond in time"],
  llm_rate_limited: ['infrastructure', true, "The tester's language model is rate-limiting requests"],
  llm_unreachable: ['infrastructure', true, "The tester's language model was unreachable, or the connection broke off"],
  llm_status: ['infrastructure', true, "The tester's language model responded with an error status"],
  llm_refused: ['infrastructure', false, "The tester's language model refused the request"],
  llm_invalid_answer: ['infrastructure', true, "The response of the tester's language model is not a chat completion"],
  speech_failed: ['infrastructure', true, "The caller's audio could not be prepared"],
  stt_failed: ['infrastructure', true, "The agent's words could not be transcribed"],
  stt_slow: ['infrastructure', true, "The agent's words were not known in time"],
  caller_slow: ['infrastructure', true, 'The simulated caller did not decide in time what to say'],
  no_verdict: ['infrastructure', true, "The tester's language model gave no usable verdict"],
  nothing_judged: ['infrastructure', false, 'None of the criteria could be decided'],
  not_exercised: ['infrastructure', false, 'What a required check is about did not happen on the call'],
  check_undecided: ['infrastructure', false, 'A required check could not be decided'],
  words_unknown: ['infrastructure', true, 'What is judged depends on words of the agent that are not known'],
  words_unclear: [
    'infrastructure',
    true,
    'What is judged depends on words of the agent that were heard differently a second time',
  ],
  not_remeasured: ['infrastructure', false, 'The recording of the call could not be measured again'],
  not_imported: ['infrastructure', false, 'The recording of the call could not be imported'],
  not_rejudged: ['infrastructure', false, 'The call could not be judged again'],
  never_silent: ['infrastructure', false, "The agent's audio never fell silent, so its turn never ended"],
  platform_refused: ['infrastructure', false, 'The platform refused the call'],
  platform_busy: ['infrastructure', true, 'The platform had no line free for the call'],
  platform_unended: ['infrastructure', false, 'The platform could not be asked to end an earlier attempt at the call'],
  paid_attempts_used: ['infrastructure', false, 'The paid attempts at the call are used up (maxPaidAttempts)'],
  busy: ['infrastructure', true, 'The line of the agent was busy'],
  no_answer: ['infrastructure', true, 'The agent did not answer the call'],
  codec_refused: [
    'infrastructure',
    false,
    'The other side of the telephone line takes no sound that this service sends',
  ],
  no_call_came: ['infrastructure', true, 'The agent was asked to call, and did not call in time'],
  redirected: ['infrastructure', false, 'The call was redirected; calls are not redirected'],
  line_lost: ['infrastructure', true, 'Nothing more came over the telephone line'],
  broken_sip: ['infrastructure', true, 'The other side of the telephone line broke the protocol SIP'],
  dial_limit: ['infrastructure', false, 'The service may not dial for the call'],
  override_refused: ['infrastructure', false, 'The platform did not take the setting that this protocol needs'],
  not_ready: ['infrastructure', true, 'The platform did not become ready for audio'],
  interrupted: ['infrastructure', true, 'The process that executed the attempt ended before the attempt did'],
  thread_ended: ['infrastructure', true, 'The thread that carried the call ended'],
  tester_overloaded: ['infrastructure', true, 'The tester was too busy to measure the call'],
  internal: ['infrastructure', true, 'Internal error of the tester'],
} as const satisfies Readonly<Record<string, readonly [Blame, boolean, string]>>;

/**
 * Who is to blame for a failure: the agent, at once; the agent, if every attempt fails in such a way; the agent, if every
 * attempt fails in such a way after the agent has answered a turn, which shows that address, credentials and network were
 * right; or never the agent.
 */
export type Blame = 'agent' | 'agent_if_repeated' | 'agent_after_answer' | 'infrastructure';
/** Only `agent` makes the call `failed`. A failure that may be either's is `infrastructure` until it has been repeated. */
export type Fault = 'agent' | 'infrastructure';
export type FailureCode = keyof typeof FAILURES;

export interface Failure {
  readonly code: FailureCode;
  /** A sentence without full stop. */
  readonly message: string;
  readonly fault: Fault;
  /** Whether the same call may succeed if retried. */
  readonly retryable: boolean;
  /** How long the other side asked to wait before the next request (`Retry-After`), in milliseconds. */
  readonly retryAfterMs?: number;
  /** HTTP status of the other side's response, and the beginning of what it said; part of the message, too. */
  readonly status?: number;
  readonly said?: string;
}

/** Whether the failure is the agent's if every attempt ends with such a one. @param answeredTurns before the failure */
export function isAgentsIfRepeated(code: FailureCode, answeredTurns: number): boolean {
  const blame: Blame = FAILURES[code][0];
  return blame === 'agent_if_repeated' || (blame === 'agent_after_answer' && answeredTurns > 0);
}

/** Further information on a failure, possibly from the other side; without secrets. */
export interface FailureDetail {
  /** A few words. */
  readonly what?: string | undefined;
  /** Address of the other side, or the name of the setting that contains it. */
  readonly address?: string;
  /** HTTP status of its response. */
  readonly status?: number | undefined;
  /** What it said: the beginning of the response, or the piece of it that was not understood. */
  readonly said?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Whether the same call would fail again in the same way, whatever the code says. */
  readonly isPermanent?: boolean;
}

export function failure(code: FailureCode, detail: string | FailureDetail = {}): Failure {
  const [blame, retryable, sentence] = FAILURES[code];
  const given: FailureDetail = typeof detail === 'string' ? { what: detail } : detail;
  const { what, address, status, said, retryAfterMs, isPermanent = false } = given;
  const isStatusNamed = status === undefined || what?.startsWith(`HTTP ${status}`) === true;
  const from = [address ?? [], isStatusNamed ? [] : `HTTP ${status}`].flat().join(', ');
  const message = [sentence, what === undefined ? '' : `: ${what}`, from === '' ? '' : ` (${from})`, saidText(said)];
  return {
    code,
    message: sanitizeText(message.join('')),
    fault: blame === 'agent' ? 'agent' : 'infrastructure',
    retryable: retryable && !isPermanent,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(status !== undefined && { status }),
    ...(said !== undefined && { said: sanitizeText(said) }),
  };
}

const saidText = (said: string | undefined): string =>
  said === undefined ? '' : said === '' ? '; it said nothing' : `; it said "${said}"`;

/** The message of a failure apart from what the other side said, for places that show that by itself. */
export function withoutSaid(message: string, said: string | undefined): string {
  const end = saidText(said);
  return message.endsWith(end) ? message.slice(0, message.length - end.length) : message;
}

/** A failure as an exception. */
export class CallFailure extends Error {
  override readonly name: string = 'CallFailure';
  readonly failure: Failure;
  /** The words of the detail. */
  readonly what: string | undefined;

  /** @param code or a failure that was described elsewhere, such as in another thread */
  constructor(code: FailureCode | Failure, detail: string | FailureDetail = {}, options?: ErrorOptions) {
    const found = typeof code === 'string' ? failure(code, detail) : code;
    super(found.message, options);
    this.failure = found;
    this.what = typeof detail === 'string' ? detail : detail.what;
  }
}

/** Converts an error to a failure. The message of an unknown error is not part of the result. */
export const failureOf = (error: unknown): Failure =>
  error instanceof CallFailure ? error.failure : failure('internal', error instanceof Error ? error.name : undefined);
