import type { InviteUserAgentServer } from 'sip.js/lib/core/index.js';
import { end, type Ending, untilEnded } from './end.js';
import type { SipEndpoint } from './endpoint.js';
import { type CallHandle, handleOf } from './handle.js';
import { type MediaAnswer, mediaAnswer, type MediaOffer, mediaOffer, type MediaRefusal, readMedia } from './sdp.js';
import { followSession, type SessionEvents } from './session.js';

/** An INVITE that came over a registered connection. Answer or refuse it. */
export class IncomingCall {
  /** The address of the caller, and the one that it called, as in From and To. */
  readonly from: string;
  readonly to: string;
  /** Where they receive sound, or why it cannot be used. Undefined: the INVITE has no offer. */
  readonly media: MediaAnswer | MediaRefusal | undefined;
  /** Store it before `answer`: `end` ends the answered call by it, from any process. */
  readonly handle: CallHandle;

  /** `srtp`: whether we require it. */
  constructor(
    private readonly endpoint: SipEndpoint,
    private readonly request: InviteUserAgentServer,
    { srtp = false }: { srtp?: boolean } = {},
  ) {
    const { message } = request;
    this.from = message.from.uri.toString();
    this.to = message.to.uri.toString();
    this.media = message.body === '' ? undefined : readMedia(message.body, { srtp });
    this.handle = handleOf(endpoint, request);
  }

  /** `gone`: the caller gave up. */
  ring(gone: () => void): void {
    this.request.delegate = {
      onCancel: () => {
        this.request.reject({ statusCode: 487 });
        gone();
      },
    };
    this.request.progress({ statusCode: 180 });
  }

  refuse(statusCode: 404 | 486 | 488 | 603): void {
    this.request.reject({ statusCode });
  }

  /**
   * Answers, and returns how to hang up. With an SRTP key in `own`, the constructor required SRTP.
   *
   * @throws Error if the caller gave up, or if `media` is a refusal.
   */
  answer(own: MediaOffer, events: SessionEvents): () => Promise<Ending> {
    const { endpoint, request } = this;
    const offered = request.message.body;
    const answer = offered === '' ? mediaOffer(own) : mediaAnswer(offered, own);
    if (typeof answer !== 'string') throw new Error(answer.reason);
    const { session } = request.accept({
      statusCode: 200,
      body: { contentDisposition: 'session', contentType: 'application/sdp', content: answer },
    });
    const acknowledged = followSession(session, endpoint, { offer: answer, srtp: own.srtpKey !== undefined }, events);
    return async () => {
      if (endpoint.closed) return end(endpoint.options, this.handle);
      // RFC 3261, 15: the callee waits for ACK.
      await acknowledged;
      return untilEnded((delegate) => session.bye(delegate));
    };
  }
}
