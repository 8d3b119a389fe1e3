import { withoutSecrets } from '../../../other-side/other-side.js';
import type { Failure } from '../../../timeline/failure.js';
import { AgentSocket } from '../../http/websocket.js';
import type { AgentCall } from '../../modules/endpoint.js';
import type { Probed } from '../../modules/module.js';
import { otherPortForm } from '../../twiml/signature.js';
import type { WebhookCall } from '../../twiml/webhook-call.js';
import { cureOfPort } from './cures.js';
import { twilioFinding } from './findings.js';

/** For each further request with another signature. */
const PROBE_MS = 3_000;
const WRONG_TOKEN = 'a wrong token';
/** The call whose agent is probed. */
export interface ProbedCall {
  readonly call: AgentCall;
  readonly webhook: WebhookCall;
  readonly isDirect: boolean;
  /** Undefined if the call did not reach a stream that TwiML names. */
  readonly stream: unknown;
  upgradeHeaders(url: string, signedUrl: string, authToken: string): Readonly<Record<string, string>>;
}

const NOTHING: Probed = { findings: [] };

/** Requests with other signatures: whether the agent checks them, or which form of its address it checks them over. */
export async function probe(session: ProbedCall, problem: Failure | undefined, signal: AbortSignal): Promise<Probed> {
  const { authToken } = session.webhook;
  if (authToken === undefined || signal.aborted || (problem && problem.status !== 403)) return NOTHING;
  const found = await tryWrongSignature(session, signal);
  // Of an agent that accepts any signature, or whose WebSocket refused, the webhook's signature is not the reason.
  const isSignature = problem && found === NOTHING && session.stream === undefined;
  return isSignature ? tryOtherPort(session, authToken, signal) : found;
}

async function tryWrongSignature(session: ProbedCall, signal: AbortSignal): Promise<Probed> {
  if (!(await isAccepted(session, session.webhook.first.signedUrl, WRONG_TOKEN, signal))) return NOTHING;
  const what = session.isDirect ? 'a WebSocket upgrade' : 'the webhook';
  const detail = `The agent accepted ${what} with a wrong X-Twilio-Signature: anybody could call it`;
  return { findings: [{ ...twilioFinding('signature_not_checked', detail), atMs: null }] };
}

/** Agents and proxies see an address with or without its port; Twilio signs it as it is written. */
async function tryOtherPort(session: ProbedCall, authToken: string, signal: AbortSignal): Promise<Probed> {
  const other = otherPortForm(session.webhook.first.signedUrl);
  if (other === undefined || !(await isAccepted(session, other, authToken, signal))) return NOTHING;
  return { findings: [], cure: cureOfPort(withoutSecrets(other)) };
}

async function isAccepted(
  session: ProbedCall,
  signedUrl: string,
  authToken: string,
  over: AbortSignal,
): Promise<boolean> {
  const { url } = session.webhook.first;
  const signal = AbortSignal.any([over, AbortSignal.timeout(PROBE_MS)]);
  try {
    if (session.isDirect) return await isUpgraded(session, url, signedUrl, authToken);
    await session.webhook.request(
      { url, signedUrl },
      session.webhook.options.method ?? 'POST',
      'ringing',
      { signal },
      authToken,
    );
    return true;
  } catch {
    return false;
  }
}

/** Whether the agent accepts an upgrade; closes the connection at once. */
async function isUpgraded(session: ProbedCall, url: string, signedUrl: string, authToken: string): Promise<boolean> {
  const addresses = await session.call.client.addressesOf(url);
  const headers = session.upgradeHeaders(url, signedUrl, authToken);
  return new Promise((resolve) => {
    const finish = (isOpen: boolean) => {
      socket.close();
      resolve(isOpen);
    };
    const socket = new AgentSocket({ url, headers, addresses }, session.webhook.agent, PROBE_MS, {
      onOpen: () => finish(true),
      onMessage: () => undefined,
      onClose: () => resolve(false),
      onFailure: () => resolve(false),
    });
  });
}
