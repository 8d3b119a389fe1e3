import { randomBytes } from 'node:crypto';
import type { IncomingResponse, OutgoingRequestDelegate, OutgoingRequestMessage } from 'sip.js/lib/core/index.js';
import { type EndpointOptions, SipEndpoint, uriOf } from './endpoint.js';
import { type CallHandle, confirmedBy } from './handle.js';

/** `ended`: the other side said so, or knows no such call; `unknown`: it refused, or did not answer in 5 s. */
export type Ending = 'ended' | 'unknown';

const ANSWER_WAIT_MS = 5_000;
/** How long a 200 that crosses CANCEL is waited for. */
const CROSSING_MS = 1_000;

/**
 * Ends a call that perhaps another process made, over a new connection: by BYE, or by CANCEL before an answer was
 * known. A 200 that comes after CANCEL is acknowledged and ended.
 *
 * @throws Error of `connect`.
 */
export async function end(options: EndpointOptions, handle: CallHandle): Promise<Ending> {
  const endpoint = await SipEndpoint.open({ ...options, address: handle.address });
  try {
    if (handle.toTag === undefined) return await cancel(endpoint, handle);
    return await (handle.branch === '' ? bye(endpoint, handle) : endLate(endpoint, handle));
  } finally {
    endpoint.close();
  }
}

async function cancel(endpoint: SipEndpoint, handle: CallHandle): Promise<Ending> {
  let answered: ((late: CallHandle | undefined) => void) | undefined;
  const crossing = new Promise<CallHandle | undefined>((resolve) => (answered = resolve));
  endpoint.listener = {
    inviteResponse: (message) => {
      const status = message.statusCode ?? 0;
      if (message.callId !== handle.callId || status < 200) return;
      answered?.(status > 299 ? undefined : confirmedBy(handle, message));
    },
  };
  const request = requestOf(endpoint, 'CANCEL', handle, handle.cseq);
  request.branch = handle.branch;
  const ending = await answerTo(endpoint, request);
  const timer = setTimeout(() => answered?.(undefined), ending === 'ended' ? CROSSING_MS : 0);
  const late = await crossing;
  clearTimeout(timer);
  return late === undefined ? ending : endLate(endpoint, late);
}

/** Acknowledges and ends a call whose 200 perhaps was not acknowledged: without ACK it comes again for 32 s. */
export async function endLate(endpoint: SipEndpoint, handle: CallHandle): Promise<Ending> {
  const ack = requestOf(endpoint, 'ACK', handle, handle.cseq);
  ack.setViaHeader(`z9hG4bK${randomBytes(8).toString('hex')}`, endpoint.core.transport.protocol);
  await endpoint.core.transport.send(ack.toString());
  return bye(endpoint, handle);
}

/** Requests that the handle does not know of, as NOTIFY, may have come before BYE: its number has to be higher. */
const LATER = 1_000;

function bye(endpoint: SipEndpoint, handle: CallHandle): Promise<Ending> {
  return answerTo(endpoint, requestOf(endpoint, 'BYE', handle, handle.cseq + LATER));
}

function requestOf(endpoint: SipEndpoint, method: string, handle: CallHandle, cseq: number): OutgoingRequestMessage {
  const { callId, fromTag, toTag, routeSet = [] } = handle;
  // CANCEL belongs to the INVITE by branch and sent-by (RFC 3261, 17.2.3).
  const via = method === 'CANCEL' ? { viaHost: handle.via } : {};
  return endpoint.core.makeOutgoingRequestMessage(method, uriOf(handle.target), uriOf(handle.from), uriOf(handle.to), {
    callId,
    cseq,
    fromTag,
    ...(toTag === undefined ? {} : { toTag }),
    routeSet: [...routeSet],
    ...via,
  });
}

const answerTo = (endpoint: SipEndpoint, request: OutgoingRequestMessage): Promise<Ending> =>
  untilEnded((delegate) => endpoint.core.request(request, delegate));

/** Sends BYE or CANCEL with this delegate, and reads the final answer. 404, 408 and 481 say that there is no such call. */
export function untilEnded(send: (delegate: OutgoingRequestDelegate) => unknown): Promise<Ending> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('unknown'), ANSWER_WAIT_MS);
    const answered = ({ message }: IncomingResponse): void => {
      clearTimeout(timer);
      const { statusCode = 0 } = message;
      // Core makes up responses for its own faults; they have no text.
      const final = statusCode <= 299 || [404, 408, 481].includes(statusCode);
      resolve(message.data !== undefined && final ? 'ended' : 'unknown');
    };
    send({ onAccept: answered, onReject: answered, onRedirect: answered });
  });
}
