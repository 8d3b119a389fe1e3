import type {
  IncomingResponseMessage,
  InviteUserAgentClient,
  OutgoingRequestMessage,
  Session,
} from 'sip.js/lib/core/index.js';
import { addressText, type SipAddress } from './address.js';
import { end, endLate, type Ending, untilEnded } from './end.js';
import { type SipEndpoint, uriOf } from './endpoint.js';
import { failureOf, reasonOf, type SipFailure, type SipFailureKind } from './failures.js';
import { SipFramingError } from './framing.js';
import { ALLOW } from './guard.js';
import { type CallHandle, confirmedBy } from './handle.js';
import { type MediaAnswer, type MediaRefusal, readMedia } from './sdp.js';
import { type EndedBy, followSession, type SessionEvents } from './session.js';

export interface CallOptions {
  readonly target: SipAddress;
  /** User of our address; without one a random token. */
  readonly caller?: string;
  /** Headers of the INVITE, `X-…`. Names and values are checked by the caller. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What `mediaOffer` returned. */
  readonly offer: string;
  /** Whether the offer has a key. */
  readonly srtp?: boolean;
  /** After it, CANCEL. Default: 60,000 ms. */
  readonly ringMs?: number;
}

export interface CallEvents extends SessionEvents {
  /** Store it: INVITE, and ACK, wait for it. If it rejects, the call is not made, or ended. */
  handle?(handle: CallHandle): Promise<void>;
  /** A 1xx, with the place of early media if it names one. */
  progress?(status: number, reason: string, media: MediaAnswer | undefined): void;
  /** ACK did not arrive, so it and what follows went to the host of the route set, else of the Contact. */
  otherNextHop?(address: SipAddress): void;
}

/** A call that was answered. */
export interface CallAnswer {
  readonly media: MediaAnswer;
  readonly handle: CallHandle;
  /** `performance.now()` at the arrival of the 200. */
  readonly answeredAt: number;
}

export interface CallFailure extends SipFailure {
  /** Whether the other side may still hold a call: end it by its handle later. */
  readonly mayBeOpen: boolean;
}

/** The answer itself, and three repetitions. */
const REPEATED_ANSWERS = 4;
const DEFAULT_RING_MS = 60_000;
/** How long the answer to CANCEL is waited for. */
const CANCEL_WAIT_MS = 5_000;

/** A call that we make. It takes the endpoint for itself. */
export class SipCall {
  /** Settles once; it never rejects. */
  readonly result: Promise<CallAnswer | CallFailure>;
  readonly #request: OutgoingRequestMessage;
  readonly #client: InviteUserAgentClient;
  #settle!: (result: CallAnswer | CallFailure) => void;
  #state: 'calling' | 'cancelled' | 'answered' | 'over' = 'calling';
  #written = false;
  /** A final response of 300 or more came, or none in time. */
  #hasFailed = false;
  #cancelled: SipFailure = { failure: 'cancelled', reason: 'cancelled' };
  #early: MediaAnswer | undefined;
  #session: Session | undefined;
  #handle!: CallHandle;
  #answers = 0;
  #acknowledge: () => unknown = () => undefined;
  #timer: NodeJS.Timeout;

  constructor(
    private readonly endpoint: SipEndpoint,
    private readonly options: CallOptions,
    private readonly events: CallEvents = {},
  ) {
    this.result = new Promise((resolve) => (this.#settle = resolve));
    const target = uriOf(addressText(options.target));
    const from = uriOf(`sip:${options.caller ?? endpoint.token}@${endpoint.options.address.host}`);
    const headers = Object.entries(options.headers ?? {}).map(([name, value]) => `${name}: ${value}`);
    const extra = [`Contact: ${endpoint.contact}`, ALLOW, ...headers];
    const to = uriOf(addressText(options.target).replace(/;transport=.*/, ''));
    const body = { contentDisposition: 'session', contentType: 'application/sdp', content: options.offer };
    this.#request = endpoint.core.makeOutgoingRequestMessage('INVITE', target, from, to, {}, extra, body);
    endpoint.listener = {
      inviteResponse: (message) => this.#responded(message),
      broken: (reason, text) => this.#broken(reason, text),
      closed: (cause) => this.#closed(cause),
      beforeInvite: () => this.#beforeInvite(),
    };
    this.#timer = setTimeout(() => this.#cancel('no_answer', 'no answer in time'), options.ringMs ?? DEFAULT_RING_MS);
    this.#client = endpoint.core.invite(this.#request, {
      onAccept: (response) => void this.#accepted(response.message, response.session, () => response.ack()),
      onReject: ({ message }) => this.#rejected(message),
      onRedirect: ({ message }) => this.#rejected(message),
    }) as InviteUserAgentClient;
  }

  /**
   * Ends the call at whatever point it is, and says what the other side answered. If the connection has ended, BYE goes
   * over a new one.
   *
   * @throws Error of `connect`.
   */
  async hangUp(): Promise<Ending> {
    if (this.#state === 'calling') this.#cancel('cancelled', 'cancelled');
    const result = await this.result;
    const session = this.#session;
    if (this.#state === 'over' || session === undefined)
      return 'mayBeOpen' in result && result.mayBeOpen ? 'unknown' : 'ended';
    this.#state = 'over';
    if (this.endpoint.closed) return end(this.endpoint.options, this.#handle);
    return untilEnded((delegate) => session.bye(delegate));
  }

  async #beforeInvite(): Promise<void> {
    const { callId, fromTag, branch, cseq, ruri, from, to } = this.#request;
    this.#handle = {
      address: this.endpoint.options.address,
      callId,
      fromTag,
      from: from.uri.toString(),
      to: to.uri.toString(),
      branch: branch ?? '',
      cseq,
      via: this.endpoint.via,
      target: ruri.toRaw(),
    };
    try {
      await this.events.handle?.(this.#handle);
    } catch (error) {
      this.#over({ failure: 'cancelled', reason: textOf(error), mayBeOpen: false });
    }
    if (this.#state !== 'calling') throw new Error('cancelled before INVITE');
    this.#written = true;
  }

  #cancel(failure: SipFailureKind, reason: string): void {
    if (this.#state !== 'calling') return;
    this.#state = 'cancelled';
    this.#cancelled = { failure, reason };
    if (!this.#written) return this.#over({ ...this.#cancelled, mayBeOpen: false });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#over({ ...this.#cancelled, mayBeOpen: true }), CANCEL_WAIT_MS);
    this.#client.cancel();
  }

  /** Core passes no 1xx on that has no To tag or Contact, so they are read here. */
  #responded(message: IncomingResponseMessage): void {
    const status = message.statusCode ?? 0;
    if (message.callId !== this.#request.callId) return;
    if (status >= 200 && status <= 299 && message.toTag === this.#handle.toTag) {
      this.#answers += 1;
      if (this.#answers === REPEATED_ANSWERS) void this.#moveOn();
    }
    // A forking proxy may pass on a 200 after another final response; Core discards it.
    if (status >= 200 && status <= 299 && this.#hasFailed)
      void endLate(this.endpoint, confirmedBy(this.#handle, message)).catch(() => undefined);
    if (status <= 100 || status >= 200 || this.#state !== 'calling') return;
    const media = message.body === '' ? undefined : this.#read(message.body);
    if (media !== undefined && !('refused' in media)) this.#early = media;
    this.events.progress?.(status, reasonOf(message, message.reasonPhrase), this.#early);
  }

  async #moveOn(): Promise<void> {
    try {
      const address = await this.endpoint.moveTo(this.#handle.routeSet?.[0] ?? this.#handle.target);
      this.#acknowledge();
      this.events.otherNextHop?.(address);
    } catch {
      // The other side will end a call whose ACK does not come.
    }
  }

  #read(sdp: string, mayHold = false): MediaAnswer | MediaRefusal {
    return readMedia(sdp, { srtp: this.options.srtp === true, mayHold });
  }

  async #accepted(message: IncomingResponseMessage, session: Session, ack: () => unknown): Promise<void> {
    const answeredAt = performance.now();
    // A second 200 of a fork, or one that crossed our CANCEL: acknowledged and ended.
    if (this.#state !== 'calling') {
      const ending = await ended(session, ack);
      if (this.#state === 'cancelled') this.#over({ ...this.#cancelled, mayBeOpen: ending === 'unknown' });
      return;
    }
    this.#state = 'answered';
    clearTimeout(this.#timer);
    // A call may begin on hold, without a place for sound, which a re-INVITE names.
    const media = message.body === '' && this.#early !== undefined ? this.#early : this.#read(message.body, true);
    if ('refused' in media) {
      const failure = media.refused === 'no_g711' || media.refused === 'srtp' ? 'codec_refused' : 'broken';
      return this.#give(session, ack, { failure, status: message.statusCode ?? 200, reason: media.reason });
    }
    this.#session = session;
    this.#acknowledge = ack;
    try {
      this.#handle = confirmedBy(this.#handle, message);
      void followSession(session, this.endpoint, this.options, {
        ...this.events,
        ended: (by, why) => this.#hungUp(by, why),
      });
      this.#answers = 1;
      await this.events.handle?.(this.#handle);
    } catch (error) {
      return this.#give(session, ack, { failure: 'cancelled', reason: textOf(error) });
    }
    try {
      ack();
    } catch (error) {
      return this.#over({ failure: 'broken', reason: `ACK that cannot be sent: ${textOf(error)}`, mayBeOpen: true });
    }
    this.#settle({ media, handle: this.#handle, answeredAt });
  }

  /** Ends an answered call that is not wanted. */
  async #give(session: Session, ack: () => unknown, failure: SipFailure): Promise<void> {
    const ending = await ended(session, ack);
    this.#over({ ...failure, mayBeOpen: ending === 'unknown' });
  }

  #rejected(message: IncomingResponseMessage): void {
    this.#hasFailed = true;
    if (this.#state === 'cancelled') return this.#over({ ...this.#cancelled, mayBeOpen: false });
    // Core makes up responses for its own faults; they have no text.
    const made = message.data === undefined;
    if (!made) return this.#over({ ...failureOf(message), mayBeOpen: false });
    if (message.statusCode === 408) return this.#over({ failure: 'no_answer', reason: 'no response', mayBeOpen: true });
    this.#over({ failure: 'disconnected', reason: 'INVITE could not be sent', mayBeOpen: this.#written });
  }

  #broken(reason: string, text: string): void {
    if (this.#state === 'answered' || !text.includes(this.#request.callId)) return;
    this.#over({ failure: 'broken', reason, mayBeOpen: true });
  }

  #closed(cause: Error | undefined): void {
    if (this.#state === 'cancelled') return this.#over({ ...this.#cancelled, mayBeOpen: true });
    const failure = cause instanceof SipFramingError ? 'broken' : 'disconnected';
    const reason = cause?.message ?? 'the connection was closed';
    if (this.#state === 'answered') this.events.ended?.('connection', reason);
    this.#over({ failure, reason, mayBeOpen: this.#written }, this.#state === 'answered' ? 'answered' : 'over');
  }

  #hungUp(by: EndedBy, reason: string): void {
    if (this.#state !== 'answered') return;
    this.#state = 'over';
    // BYE may come before our ACK is sent.
    void this.result.then(() => this.events.ended?.(by, reason));
  }

  #over(failure: CallFailure, state: 'answered' | 'over' = 'over'): void {
    clearTimeout(this.#timer);
    this.#state = state;
    this.#settle(failure);
  }
}

async function ended(session: Session, ack: () => unknown): Promise<Ending> {
  try {
    ack();
    return await untilEnded((delegate) => session.bye(delegate));
  } catch {
    return 'unknown';
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
