import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { OtherSide, secretsOfUrl, withoutSecrets } from '../../other-side/other-side.js';
import { type SentSecrets, sentSecrets } from '../../other-side/secrets.js';
import { CallFailure } from '../../timeline/failure.js';
import type { VoiceFacts } from '../../voice/facts/facts.js';
import { agentUrl } from '../http/agent-url.js';
import type { AgentCall, AgentEndpoint } from '../modules/endpoint.js';
import type { DialOptions, Found } from '../modules/module.js';
import { Addresses, type DialledAddress } from './addresses.js';
import { fetchSound } from './platform-sound.js';
import { HttpTime, PRELUDE_LIMITS } from './http-time.js';
import { type Fetch, type PlatformSounds, TwimlWalk } from './twiml-walk.js';
import type { HttpMethod, StreamNoun } from './twiml.js';
import { requestTwiml } from './webhook.js';

/** Telephone numbers that are reserved for fiction, so that no one can be reached by them. */
const DEFAULT_FROM = '+12025550143';
const DEFAULT_TO = '+12025550187';

/** Types that Twilio executes as TwiML, and others of XML. */
const TWIML_TYPES = /^(text\/(xml|html)|application\/(\S+\+)?xml)\s*(;|$)/i;

/** The options of a connection that concern its webhook, as their validation guarantees. */
export interface WebhookOptions {
  readonly authToken?: string;
  readonly publicUrl?: string;
  readonly from?: string;
  readonly to?: string;
  /** Of the first request. */
  readonly method?: HttpMethod;
  readonly accountSid?: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** What the TwiML of a webhook connects the call to. */
export interface Connected {
  readonly noun: StreamNoun;
  /** The answer, on the clock of `performance`. */
  readonly answeredAt: number;
  readonly found: Found;
}

/** A call to the webhook of an agent on Twilio: signed requests and the TwiML before and after what it connects. */
export class WebhookCall {
  readonly secrets: SentSecrets;
  readonly agent: OtherSide;
  readonly options: WebhookOptions;
  readonly addresses: Addresses;
  /** Shows which attempt it is (`POST /tool-calls`). */
  readonly callSid: string;
  readonly accountSid: string;
  private readonly walk: TwimlWalk;
  /** How long the call may last. */
  private maxMs = Infinity;

  constructor(
    private readonly endpoint: AgentEndpoint,
    private readonly call: AgentCall,
  ) {
    const { url, shownUrl, headers, options, apiKey } = endpoint;
    this.options = options;
    this.callSid = `CA${call.callId.replaceAll('-', '')}`;
    this.accountSid = this.options.accountSid ?? sid('AC');
    this.secrets = sentSecrets([this.authToken, apiKey], headers, secretsOfUrl(url));
    this.agent = new OtherSide(shownUrl ?? agentUrl(withoutSecrets(url), call), this.secrets.all);
    this.addresses = new Addresses(agentUrl(url, call), this.options.publicUrl);
    this.walk = new TwimlWalk((text) => this.agent.excerpt(text));
  }

  /** The token that signs requests; none: they are not signed. */
  get authToken(): string | undefined {
    return this.options.authToken ?? this.endpoint.apiKey;
  }

  /** The address of the webhook or WebSocket that the call begins with. */
  get first(): DialledAddress {
    return this.addresses.first;
  }

  /** Address of the present document. */
  get base(): string {
    return this.walk.base;
  }

  /** What the platform said for the agent before the stream. */
  get sounds(): TwimlWalk['sounds'] {
    return this.walk.sounds;
  }

  /** Requests the first document and follows its verbs. @throws CallFailure; the signal's reason */
  async connect({ signal, speak, onStep, maxMs = Infinity }: DialOptions): Promise<Connected> {
    this.maxMs = maxMs;
    const { first } = this;
    const time = new HttpTime();
    const request = (address: DialledAddress, method: HttpMethod) =>
      time.spend((timeoutMs) => this.request(address, method, 'ringing', { signal, onStep, timeoutMs }));
    const verbs = await request(first, this.options.method ?? 'POST');
    const answeredAt = performance.now();
    const fetch: Fetch = (reference, base, method) => request(this.resolved(reference, base), method);
    const sounds = { ...(speak && { speak }), fetch: this.files(signal, time) };
    const noun = await this.walk.toStream(verbs, first.signedUrl, fetch, sounds);
    return { noun, answeredAt, found: { findings: this.walk.findings, events: this.walk.events } };
  }

  /**
   * Waits until the verbs before what is connected have taken their time, or the call may last no longer.
   * @throws the signal's reason
   */
  async passPrelude(answeredAt: number, { signal, maxMs = Infinity }: DialOptions): Promise<void> {
    const ms = Math.max(0, answeredAt + Math.min(this.walk.elapsedMs, maxMs) - performance.now());
    await wait(ms, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }

  /** What the agent asks for afterwards, in order, and how the call ends. Failures are events: the stream itself is over. */
  async after({ end }: VoiceFacts, signal: AbortSignal): Promise<Found> {
    const { events, findings } = this.walk;
    const [event, finding] = [events.length, findings.length];
    const fetch: Fetch = (reference, base, method) =>
      this.request(this.resolved(reference, base), method, 'in-progress', { signal });
    const sounds = { fetch: this.files(signal, new HttpTime()) };
    const ended = await this.walk.afterStream(end, this.maxMs, fetch, sounds).catch((error: unknown) => {
      if (!(error instanceof CallFailure)) throw error;
      this.walk.note(error.failure.message);
      return { ...end, atMs: this.walk.elapsedMs };
    });
    return { events: events.slice(event), findings: findings.slice(finding), end: ended };
  }

  /** Requests TwiML, signed with the given token. */
  async request(
    address: DialledAddress,
    method: HttpMethod,
    callStatus: string,
    { signal, onStep, timeoutMs }: Pick<DialOptions, 'signal'> & Partial<DialOptions & { readonly timeoutMs: number }>,
    authToken = this.authToken,
  ) {
    const { verbs, contentType } = await requestTwiml(this.call.client, this.agent, {
      address,
      method,
      form: this.form(callStatus),
      headers: this.headersTo(address.url),
      authToken,
      signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(onStep && { onStep }),
    });
    if (!TWIML_TYPES.test(contentType ?? '')) {
      const how = contentType === undefined ? 'without Content-Type' : `as ${this.agent.excerpt(contentType)}`;
      this.walk.find('wrong_content_type', `The agent sent its TwiML ${how}`);
    }
    return verbs;
  }

  /** The connection's headers are credentials, and TwiML may name any server: they are sent to the connection's own alone. */
  headersTo(url: string): Readonly<Record<string, string>> {
    const isOwn = httpOrigin(url) === httpOrigin(this.first.url);
    return { ...(isOwn && this.endpoint.headers), 'x-call-id': this.call.callId };
  }

  invalid(what: string): CallFailure {
    return new CallFailure('invalid_twiml', this.agent.describe({ what }));
  }

  /** Fetches the files of `<Play>`; redirects are followed by the same rules for addresses and headers. */
  private files(signal: AbortSignal, time: HttpTime): PlatformSounds['fetch'] {
    return async (reference, base, maxMs) => {
      let address = this.addresses.resolve(reference, base);
      for (let hops = 0; hops <= PRELUDE_LIMITS.redirects; hops++) {
        if (!address || !/^https?:/i.test(address.url)) return { problem: 'its address is not one of http or https' };
        const { url, signedUrl } = address;
        const headers = this.headersTo(url);
        const found = await time.spend((timeoutMs) => {
          return fetchSound(this.call.client, { url, headers, signal, maxMs, timeoutMs });
        });
        if (!('location' in found)) return found;
        address = this.addresses.resolve(found.location, signedUrl);
      }
      return { problem: `it is redirected more than ${PRELUDE_LIMITS.redirects} times` };
    };
  }

  private resolved(reference: string, base: string): DialledAddress {
    const address = this.addresses.resolve(reference, base);
    if (!address || !/^https?:/i.test(address.signedUrl)) {
      throw this.invalid(`the address "${this.agent.excerpt(reference)}" is not one of http or https`);
    }
    return address;
  }

  private form(callStatus: string): Record<string, string> {
    const { from = DEFAULT_FROM, to = this.call.phoneNumber || DEFAULT_TO, parameters } = this.options;
    return {
      CallSid: this.callSid,
      AccountSid: this.accountSid,
      From: from,
      To: to,
      Caller: from,
      Called: to,
      CallStatus: callStatus,
      Direction: 'inbound',
      ApiVersion: '2010-04-01',
      ...parameters,
    };
  }
}

const httpOrigin = (url: string): string => new URL(url.replace(/^ws/i, 'http')).origin;

/** Two letters and 32 hexadecimal digits, as Twilio's identifiers. */
export const sid = (prefix: string): string => `${prefix}${randomBytes(16).toString('hex')}`;
