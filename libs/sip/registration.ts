import type { IncomingResponseMessage } from 'sip.js/lib/core/index.js';
import { type SipEndpoint, uriOf } from './endpoint.js';
import { failureOf, type SipFailure } from './failures.js';

const EXPIRES = 120;
/** A registrar that wants us to stay longer than this is refused. */
const MOST_SECONDS = 3_600;
const ANSWER_WAIT_MS = 10_000;

export interface RegistrationOptions {
  /** User of the account; its host is the endpoint's. */
  readonly account: string;
  /** A refresh failed: calls may not arrive any more. */
  readonly lost?: (failure: SipFailure) => void;
}

/** Our Contact at a registrar, refreshed at half of its time until `end`. Calls come over the endpoint's connection. */
export class Registration {
  #callId: string | undefined;
  #fromTag: string | undefined;
  #sequence = 0;
  #expires = EXPIRES;
  #granted = EXPIRES;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  private constructor(
    private readonly endpoint: SipEndpoint,
    private readonly options: RegistrationOptions,
  ) {}

  /** Registers for 120 s, or the registrar's least time (423, Min-Expires). */
  static async open(endpoint: SipEndpoint, options: RegistrationOptions): Promise<Registration | SipFailure> {
    const registration = new Registration(endpoint, options);
    return (await registration.#register()) ?? registration;
  }

  /** Seconds that the registrar granted last. */
  get granted(): number {
    return this.#granted;
  }

  /** Removes our Contact only; those of others at the account stay. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    await this.#send(0);
  }

  async #register(): Promise<SipFailure | undefined> {
    let message = await this.#send(this.#expires);
    const least = Number(message?.statusCode === 423 ? message.getHeader('min-expires') : undefined);
    if (least > this.#expires && least <= MOST_SECONDS) {
      this.#expires = least;
      message = await this.#send(this.#expires);
    }
    // Core makes up responses for its own faults; they have no text.
    if (message?.data === undefined) return { failure: 'disconnected', reason: 'no answer to REGISTER' };
    if ((message.statusCode ?? 0) > 299) return failureOf(message);
    this.#granted = grantedTo(this.endpoint.token, message) ?? this.#expires;
    if (!this.#ended) this.#timer = setTimeout(() => void this.#refresh(), Math.max(this.#granted, 10) * 500).unref();
    return undefined;
  }

  async #refresh(): Promise<void> {
    const failure = await this.#register();
    if (failure !== undefined && !this.#ended) this.options.lost?.(failure);
  }

  #send(expires: number): Promise<IncomingResponseMessage | undefined> {
    const { core, contact, options } = this.endpoint;
    const { host } = options.address;
    const account = uriOf(`sip:${this.options.account}@${host}`);
    const headers = [`Contact: ${contact};expires=${expires}`, `Expires: ${expires}`];
    const request = core.makeOutgoingRequestMessage(
      'REGISTER',
      uriOf(`sip:${host}`),
      account,
      account,
      {
        cseq: (this.#sequence += 1),
        ...(this.#callId === undefined ? {} : { callId: this.#callId }),
        ...(this.#fromTag === undefined ? {} : { fromTag: this.#fromTag }),
      },
      headers,
    );
    this.#callId = request.callId;
    this.#fromTag = request.fromTag;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), ANSWER_WAIT_MS);
      const answered = ({ message }: { message: IncomingResponseMessage }): void => {
        clearTimeout(timer);
        // A challenge was answered with the next number.
        this.#sequence = request.cseq;
        resolve(message);
      };
      core.register(request, { onAccept: answered, onReject: answered, onRedirect: answered });
    });
  }
}

/** The time for our Contact in a 200, which lists those of all devices of the account. */
function grantedTo(token: string, message: IncomingResponseMessage): number | undefined {
  const own = message.getHeaders('contact').find((contact) => contact.includes(`${token}@`));
  const seconds = Number(/;\s*expires\s*=\s*"?(\d+)/i.exec(own ?? '')?.[1] ?? message.getHeader('expires'));
  return seconds > 0 ? Math.min(seconds, MOST_SECONDS) : undefined;
}
