import type { InviteUserAgentServer } from 'sip.js/lib/core/index.js';
import { type Ending, untilEnded } from './end.js';
import type { SipEndpoint } from './endpoint.js';
import { type MediaAnswer, type MediaRefusal, readMedia } from './sdp.js';
import { followSession, type SessionEvents } from './session.js';

/** An INVITE that came over a registered connection. Answer or refuse it. */
export class IncomingCall {
  /** The address of the caller, and the one that it called, as in From and To. */
  readonly from: string;
  readonly to: string;
  /** Where they receive sound, or why it cannot be used. Undefined: the INVITE has no offer. */
  readonly media: MediaAnswer | MediaRefusal | undefined;

  constructor(
    private readonly endpoint: SipEndpoint,
    private readonly request: InviteUserAgentServer,
  ) {
    const { message } = request;
    this.from = message.from.uri.toString();
    this.to = message.to.uri.toString();
    this.media = message.body === '' ? undefined : readMedia(message.body, { srtp: false });
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

  /** Answers with this description, and returns how to hang up. */
  answer(offer: string, events: SessionEvents): () => Promise<Ending> {
    const { session } = this.request.accept({
      statusCode: 200,
      body: { contentDisposition: 'session', contentType: 'application/sdp', content: offer },
    });
    followSession(session, this.endpoint, { offer }, events);
    return () => untilEnded((delegate) => session.bye(delegate));
  }
}
