import type { IncomingResponseMessage, InviteUserAgentServer, NameAddrHeader } from 'sip.js/lib/core/index.js';
import type { SipAddress } from './address.js';
import type { SipEndpoint } from './endpoint.js';

/**
 * What another process needs to end a call: plain JSON. Without `toTag` the call was not answered yet, and CANCEL ends
 * it; with it BYE does.
 */
export interface CallHandle {
  /** Where the connection of the call went. */
  readonly address: SipAddress;
  readonly callId: string;
  readonly fromTag: string;
  /** Our address and theirs, as in From and To. */
  readonly from: string;
  readonly to: string;
  /** Of the last INVITE: branch, CSeq, and host and port in its Via header. */
  readonly branch: string;
  readonly cseq: number;
  readonly via: string;
  /** Request-URI: at first the address that was called, then their Contact. */
  readonly target: string;
  readonly toTag?: string;
  readonly routeSet?: readonly string[];
}

/** The handle with what a 2xx to its INVITE says. */
export function confirmedBy(handle: CallHandle, message: IncomingResponseMessage): CallHandle {
  const contact = message.parseHeader('contact') as NameAddrHeader;
  const routeSet = message.getHeaders('record-route').reverse();
  return { ...handle, toTag: message.toTag, target: contact.uri.toRaw(), routeSet };
}

/** The handle of a call that was made to us, as it is from our answer on. */
export function handleOf(endpoint: SipEndpoint, request: InviteUserAgentServer): CallHandle {
  const { message } = request;
  const contact = message.parseHeader('contact') as NameAddrHeader;
  return {
    address: endpoint.options.address,
    callId: message.callId,
    fromTag: request['toTag'],
    from: message.to.uri.toString(),
    to: message.from.uri.toString(),
    branch: '',
    cseq: 0,
    via: endpoint.via,
    target: contact.uri.toRaw(),
    toTag: message.fromTag,
    routeSet: message.getHeaders('record-route'),
  };
}
