import type { FailureCode } from '../failure.js';
import { OF_STEP } from './cures.js';
import type { ConnectionStepName } from './steps.js';

const SIGNATURE =
  'Check the authToken of the connection (by default the apiKey of the agent): it must be the auth token with which the agent checks X-Twilio-Signature.';
const signature = (signedUrl: string | undefined): string =>
  `${SIGNATURE} The signature covers the address${signedUrl === undefined ? '' : ` ${signedUrl}`}: if the agent checks it over another one, set publicUrl to that.`;

const OF_TWILIO_STEP: Partial<Readonly<Record<ConnectionStepName, string>>> = {
  twiml:
    'Check the path of the url: it must be the webhook for incoming calls, and its response TwiML with <Connect><Stream url="wss://…"/></Connect>.',
  websocket:
    'Check the url of <Stream>. If it names a public host and the agent runs somewhere else, set publicUrl to the public address of the webhook: addresses with its host are then called where the url of the connection leads.',
  answered: 'Read the log of the agent: it received the id of the call (callId) as the header X-Call-Id.',
};

const OF_STATUS: Readonly<Record<number, string>> = {
  404: 'Check the path of the url: it must be the webhook for incoming calls, or the address of its WebSocket.',
  405: 'Check the path of the url: the webhook must accept POST.',
};

/**
 * What to do about a failed step of a call over Twilio Media Streams.
 * @param signedUrl the address that the refused request was signed over, if it is known
 */
export function cureOfTwilio(
  step: ConnectionStepName,
  code: FailureCode,
  status: number | undefined,
  signedUrl: string | undefined,
): string {
  if (step === 'resolved' || step === 'connected' || step === 'secured') return OF_STEP[step];
  if (step === 'websocket' && (code === 'address_refused' || code === 'name_not_found')) return OF_STEP.resolved;
  if (status === 401 || status === 403) return signature(signedUrl);
  return OF_STATUS[status ?? 0] ?? OF_TWILIO_STEP[step] ?? OF_STEP.accepted;
}

/** The agent accepts the same request when its signature covers the address in another form. */
export const cureOfPort = (accepted: string): string =>
  `The agent accepts the signature over ${accepted}: set publicUrl to this address, or let the agent check the address as it is called.`;

export const CURE_OF_SILENCE =
  'If the agent waits for the caller to speak first, set firstSpeaker to caller: the test then expects no sound. Otherwise read the log of the agent.';
