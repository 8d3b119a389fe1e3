import type { Session } from 'sip.js/lib/core/index.js';
import type { SipEndpoint } from './endpoint.js';
import { isNetworkFault, printable, reasonOf } from './failures.js';
import { ALLOW } from './guard.js';
import { original } from './readable.js';
import { type MediaAnswer, nextAnswer, nextOffer, readMedia } from './sdp.js';

export interface SessionEvents {
  /** A re-INVITE: hold, its end, or another media address. `false` refuses it with 488. */
  media?(media: MediaAnswer): boolean;
  /** REFER, accepted and reported as done: where the other side wants to transfer us to. End the call. */
  transfer?(target: string): void;
  /**
   * BYE, with its Reason, which may say that a network between ended the call; or the end of the connection: after that the
   * call may still be open there.
   */
  ended?(by: EndedBy, reason: string): void;
}

export type EndedBy = 'other side' | 'network' | 'connection';

/** Answers what comes within a call. Resolves at the ACK of a 200 that we sent. */
export function followSession(
  session: Session,
  endpoint: SipEndpoint,
  { offer, srtp = false }: { offer: string; srtp?: boolean },
  events: SessionEvents,
): Promise<void> {
  let acknowledge: () => void;
  const acknowledged = new Promise<void>((resolve) => (acknowledge = resolve));
  let described = offer;
  /** Whether the description can be used, and is wanted. */
  const usable = (sdp: string): boolean => {
    const media = readMedia(sdp, { srtp, mayHold: true });
    return !('refused' in media) && events.media?.(media) !== false;
  };
  session.delegate = {
    onBye(request) {
      request.accept();
      const by = isNetworkFault(request.message) ? 'network' : 'other side';
      events.ended?.(by, reasonOf(request.message));
    },
    onInvite(request) {
      const sdp = request.message.body;
      const ours = sdp === '' ? nextOffer(offer, described) : nextAnswer(sdp, described);
      if (typeof ours !== 'string' || (sdp !== '' && !usable(sdp))) return void request.reject({ statusCode: 488 });
      described = ours;
      request.accept({
        statusCode: 200,
        extraHeaders: [`Contact: ${endpoint.contact}`, ALLOW],
        body: { contentDisposition: 'session', contentType: 'application/sdp', content: ours },
      });
    },
    onAckTimeout() {
      session.bye();
      acknowledge();
      events.ended?.('network', 'no ACK in time');
    },
    onAck({ message }) {
      acknowledge();
      // Their answer to our offer, after a re-INVITE without a description.
      if (message.body !== '') usable(message.body);
    },
    onRefer(request) {
      request.accept({ statusCode: 202 });
      notifyTransferred(session);
      events.transfer?.(printable(original(request.message.getHeader('refer-to') ?? '')));
    },
    onInfo(request) {
      // RFC 6086: packages are refused, INFO of the old kind is acknowledged.
      if (request.message.hasHeader('info-package')) request.reject({ statusCode: 469, extraHeaders: ['Recv-Info:'] });
      else request.accept();
    },
  };
  return acknowledged;
}

/** RFC 3515, 2.4.4: a platform ends the call when it hears that the transfer succeeded, and waits otherwise. */
function notifyTransferred(session: Session): void {
  session.notify(undefined, {
    extraHeaders: ['Event: refer', 'Subscription-State: terminated;reason=noresource'],
    body: {
      contentDisposition: 'render',
      contentType: 'message/sipfrag;version=2.0',
      content: 'SIP/2.0 200 OK\r\n',
    },
  });
}
