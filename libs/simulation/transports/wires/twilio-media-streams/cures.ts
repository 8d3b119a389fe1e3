import type { Failure } from '../../../timeline/failure.js';
import type { DialledAddress } from '../../twiml/addresses.js';

const SIGNATURE =
  'Check the authToken of the connection (by default the apiKey of the agent): it must be the auth token with which the agent checks X-Twilio-Signature.';
const signature = (signedUrl: string | undefined): string =>
  `${SIGNATURE} The signature covers the address${signedUrl === undefined ? '' : ` ${signedUrl}`}: if the agent checks it over another one, set publicUrl to that.`;

const OF_STEP: Readonly<Record<string, string>> = {
  twiml:
    'Check the path of the url: it must be the webhook for incoming calls, and its response TwiML with <Connect><Stream url="wss://…"/></Connect>.',
  websocket: 'Check the url of <Stream>, and that its server runs.',
};

const OF_STATUS: Readonly<Record<number, string>> = {
  404: 'Check the path of the url: it must be the webhook for incoming calls, or the address of its WebSocket.',
  405: 'Check the path of the url, and the option method: the webhook is called with POST unless it is GET.',
};

/** What is known of the addresses of the call. */
interface KnownAddresses {
  /** That the refused request was signed over. */
  readonly signedUrl: string | undefined;
  /** The public address of the webhook, if the host that the TwiML names is the agent's own. */
  readonly publicUrl: string | undefined;
  /** Of the stream that the TwiML names, if it refused. */
  readonly stream: DialledAddress | undefined;
}

const otherHost = (publicUrl: string): string =>
  `The TwiML names another host than that of the webhook. If it is the public host of this agent, set publicUrl to ${publicUrl}: addresses with its host are then called where the url of the connection leads. Otherwise check the url of <Stream>.`;

const refusedStream = ({ url, signedUrl }: DialledAddress): string =>
  `The webhook accepted the call, and the WebSocket of its <Stream> refused it. It is called at ${url}, with X-Twilio-Signature over ${signedUrl}, as Twilio signs it: check what it requires, over which address it checks a signature, and its log.`;

/** What to do about a failed step; undefined for the general advice. */
export function cureOf(
  step: string,
  { code, status = 0 }: Failure,
  { signedUrl, publicUrl, stream }: KnownAddresses,
): string | undefined {
  if (status === 401 || status === 403) return stream ? refusedStream(stream) : signature(signedUrl);
  if (publicUrl !== undefined) return otherHost(publicUrl);
  // The general advice on addresses.
  if (code === 'address_refused' || code === 'name_not_found') return undefined;
  return OF_STATUS[status] ?? OF_STEP[step];
}

/** The agent accepts the same request when its signature covers the address in another form. */
export const cureOfPort = (accepted: string): string =>
  `The agent accepts the signature over ${accepted}: set publicUrl to this address, or let the agent check the address as it is called.`;
