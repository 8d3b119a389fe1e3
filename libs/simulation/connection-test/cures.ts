import type { Failure, FailureCode } from '../timeline/failure.js';
import type { FirstSpeaker } from '../transports/modules/endpoint.js';
import type { TextStep } from './steps.js';

/** What a fix depends on. */
export interface FailedStep {
  readonly step: TextStep;
  readonly code: FailureCode;
  /** HTTP status of the response, if there was one. */
  readonly status: number | undefined;
  readonly firstSpeaker: FirstSpeaker;
}

const READ_ITS_LOG = 'Read the log of the agent: it received the id of the call (callId) as the header X-Call-Id.';

const OF_STEP: Readonly<Record<TextStep, string>> = {
  resolved:
    'Check the host name in the url. It must lead to a public address, or to a network that the operator of the service allows (OUTBOUND_ALLOWED_NETWORKS).',
  connected:
    'Check that the agent is running, that the url has its port, and that no firewall blocks connections from the service.',
  secured:
    'Check that the port of the url speaks TLS, and that the certificate of the agent is valid, is made out to this host name, and is sent with its intermediate certificates. An agent without TLS needs a url with http.',
  accepted: READ_ITS_LOG,
  answered: READ_ITS_LOG,
};

const OF_CODE: Partial<Readonly<Record<FailureCode, string>>> = {
  redirect:
    'Set the url to the final address: redirects are not followed, because headers must not reach another server.',
  rate_limited: 'Raise the rate limit of the agent, or wait and test again.',
  bad_response: 'Check scheme and port of the url: what listens there does not speak HTTP, or not over this scheme.',
  invalid_answer:
    'Check the path of the url: it must be that of a chat-completions endpoint, which answers with a chat completion as JSON or as an event stream.',
  stream_cut:
    'The agent must end its stream with data: [DONE] or a finish_reason. A proxy that cuts off long responses has the same effect.',
};

const OF_STATUS: Readonly<Record<number, string>> = {
  401: 'Check the credentials: the Authorization header of the connection or, without one, the apiKey of the agent.',
  403: 'Check the credentials and what they allow: the Authorization header of the connection or, without one, the apiKey of the agent.',
  404: 'Check the path of the url: it often ends with /v1/chat/completions. If it contains {assistantId}, check the assistantId of the agent.',
  405: 'Check the path of the url: the agent must accept POST there.',
};

const NEEDS_A_MESSAGE =
  'Perhaps the agent accepts no conversation without messages, with which it is asked to speak first: then set firstSpeaker to caller.';
const SAYS_NOTHING =
  'The agent answered without words. If it waits for the caller to say something else, this may be right; otherwise read its log.';

/** What to do about a failed step, in one or two sentences. */
export function cureOf({ step, code, status, firstSpeaker }: FailedStep): string {
  if (step === 'resolved' || step === 'connected' || step === 'secured') return OF_STEP[step];
  if (firstSpeaker === 'agent' && (status === 400 || status === 422)) return NEEDS_A_MESSAGE;
  return OF_STATUS[status ?? 0] ?? OF_CODE[code] ?? OF_STEP[step];
}

const SAYS_NO_SOUND =
  'If the agent waits for the caller to speak first, set firstSpeaker to caller: the test then expects no sound. Otherwise read the log of the agent.';

/** What to do about a failed step of a voice call. @param ofWire the advice of the wire */
export function cureOfVoiceStep(
  step: string,
  failure: Failure,
  ofWire: (failure: Failure) => string | undefined,
): string {
  const { code } = failure;
  if (step === 'resolved' || step === 'connected' || step === 'secured') return OF_STEP[step];
  if (code === 'address_refused' || code === 'name_not_found') return ofWire(failure) ?? OF_STEP.resolved;
  if (step === 'answered' && code === 'timeout') return SAYS_NO_SOUND;
  return ofWire(failure) ?? READ_ITS_LOG;
}

/** What to do about an agent that answered without words. */
export const cureOfSilence = (firstSpeaker: FirstSpeaker): string =>
  firstSpeaker === 'agent'
    ? 'The agent did not greet: set firstSpeaker to caller if the caller speaks first.'
    : SAYS_NOTHING;
