import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ConnectionPhase } from '../../../outbound-http/index.js';
import { CallFailure } from '../../failure.js';
import { OtherSide, secretsOfUrl, withoutSecrets } from '../../other-side.js';
import { type SentSecrets, sentSecrets } from '../../secrets.js';
import type { PlatformEvent, WireFinding } from '../../voice/facts.js';
import { agentUrl } from '../agent-url.js';
import type { AgentCall, AgentEndpoint } from '../endpoint.js';
import { Addresses, type DialledAddress } from './addresses.js';
import { twilioFinding } from './findings.js';
import type { TwilioOptions } from './options.js';
import { fetchSound } from './platform-sound.js';
import type { TwilioStream } from './protocol.js';
import { twilioSignature } from './signature.js';
import { type Fetch, type PlatformSounds, type Speak, TwimlWalk } from './twiml-walk.js';
import { type HttpMethod, type StreamNoun } from './twiml.js';
import { requestTwiml } from './webhook.js';

/** Numbers that belong to nobody (reserved for fiction). */
const DEFAULT_FROM = '+12025550143';
const DEFAULT_TO = '+12025550187';

/** A stream that the agent asked for, ready to be connected. */
export interface DialledStream {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly stream: TwilioStream;
  /** The answer, on the clock of `performance`; undefined if it is the start of the stream. */
  readonly answeredAt: number | undefined;
  readonly findings: readonly WireFinding[];
  /** What the agent asked for before the stream. */
  readonly events: readonly PlatformEvent[];
  /** What the platform said for it before the stream. */
  readonly sounds: TwimlWalk['sounds'];
}

export interface AfterStream {
  readonly events: readonly PlatformEvent[];
  readonly findings: readonly WireFinding[];
}

export interface SessionHooks {
  readonly onPhase?: (phase: ConnectionPhase) => void;
  /** The agent has answered the webhook with TwiML. */
  readonly onAnswer?: () => void;
}

/** One call as Twilio makes it: the webhook, the stream that its TwiML connects, and what follows after the stream. */
export class TwilioSession {
  readonly secrets: SentSecrets;
  readonly agent: OtherSide;
  readonly shownUrl: string;
  private readonly options: TwilioOptions;
  private readonly addresses: Addresses;
  private readonly callSid = sid('CA');
  private readonly accountSid: string;
  private readonly walk: TwimlWalk;

  constructor(
    private readonly endpoint: AgentEndpoint,
    private readonly call: AgentCall,
    private readonly hooks: SessionHooks = {},
  ) {
    const { url, shownUrl, headers, apiKey, options } = endpoint;
    this.options = options;
    this.accountSid = this.options.accountSid ?? sid('AC');
    this.secrets = sentSecrets(this.authToken ?? apiKey, headers, secretsOfUrl(url));
    this.shownUrl = shownUrl ?? agentUrl(withoutSecrets(url), call);
    this.agent = new OtherSide(this.shownUrl, this.secrets.all);
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

  /**
   * Finds the stream: at once for a WebSocket address, else by the webhook's TwiML. Waits as long as its verbs before take.
   * @throws CallFailure; the signal's reason
   */
  async dial(signal: AbortSignal, speak?: Speak): Promise<DialledStream> {
    const { first } = this.addresses;
    if (/^wss?:/i.test(first.url)) return this.toStream(first, this.options.parameters ?? {}, undefined);
    const request = (address: DialledAddress, method: HttpMethod) => this.request(address, method, 'ringing', signal);
    const verbs = await request(first, 'POST');
    const answeredAt = performance.now();
    this.hooks.onAnswer?.();
    const fetch: Fetch = (reference, base, method) => request(this.resolved(reference, base), method);
    const sounds = { ...(speak && { speak }), fetch: this.sounds(signal) };
    const noun = await this.walk.toStream(verbs, first.signedUrl, fetch, sounds);
    // As a relative address, nothing would be the address of the document.
    if (noun.url === '') throw this.failure('its <Stream> has no url');
    const address = this.addresses.resolveStream(noun.url, this.walk.base);
    if (!address) throw this.failure('the url of its <Stream> is not a wss address');
    const extra = notInStreamUrl(new URL(address.url));
    if (extra !== undefined) throw this.failure(`the url of its <Stream> has ${extra}`);
    const findings = [...findingsOf(noun, this.agent), ...this.walk.findings];
    await wait(Math.max(0, answeredAt + this.walk.elapsedMs - performance.now()), undefined, { signal }).catch(() => {
      throw signal.reason;
    });
    return { ...this.toStream(address, noun.parameters, answeredAt), findings };
  }

  /**
   * What the agent asks for after it has closed the stream, in order. Failures are events: the call itself is over.
   * @param atMs end of the stream in call time
   */
  async afterStream(atMs: number, signal: AbortSignal): Promise<AfterStream> {
    // A connection that begins with a WebSocket has no TwiML.
    if (/^wss?:/i.test(this.first.url)) return { events: [], findings: [] };
    const before = this.walk.findings.length;
    try {
      const events = await this.walk.afterStream(atMs, (reference, base, method) =>
        this.request(this.resolved(reference, base), method, 'in-progress', signal),
      );
      return { events, findings: this.walk.findings.slice(before) };
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      return { events: [{ type: 'note', atMs, detail: error.failure.message }], findings: [] };
    }
  }

  /** Fetches the files of `<Play>`. */
  private sounds(signal: AbortSignal): PlatformSounds['fetch'] {
    return async (reference, base, maxMs) => {
      const address = this.addresses.resolve(reference, base);
      if (!address || !/^https?:/i.test(address.url)) return { problem: 'its address is not one of http or https' };
      return fetchSound(this.call.client, { url: address.url, headers: this.headersTo(address.url), signal, maxMs });
    };
  }

  /** Requests TwiML, signed with the given token. */
  request(
    address: DialledAddress,
    method: HttpMethod,
    callStatus: string,
    signal: AbortSignal,
    authToken = this.authToken,
  ) {
    const { onPhase } = this.hooks;
    return requestTwiml(this.call.client, this.agent, {
      address,
      method,
      form: this.form(callStatus),
      headers: this.headersTo(address.url),
      authToken,
      signal,
      ...(onPhase && { onPhase }),
    });
  }

  private resolved(reference: string, base: string): DialledAddress {
    const address = this.addresses.resolve(reference, base);
    if (!address || !/^https?:/i.test(address.signedUrl)) {
      throw this.failure(`the address "${this.agent.excerpt(reference)}" is not one of http or https`);
    }
    return address;
  }

  private failure(what: string): CallFailure {
    return new CallFailure('invalid_twiml', this.agent.describe({ what }));
  }

  private toStream(
    { url, signedUrl }: DialledAddress,
    customParameters: Readonly<Record<string, string>>,
    answeredAt: number | undefined,
  ): DialledStream {
    const { authToken, accountSid, callSid } = this;
    return {
      url,
      headers: {
        ...this.headersTo(url),
        ...(authToken !== undefined && { 'x-twilio-signature': twilioSignature(authToken, signedUrl) }),
      },
      stream: { accountSid, callSid, streamSid: sid('MZ'), customParameters, secrets: this.secrets.all },
      answeredAt,
      findings: [],
      events: this.walk.events,
      sounds: this.walk.sounds,
    };
  }

  /** The connection's headers are credentials, and TwiML may name any server: they are sent to the connection's own alone. */
  private headersTo(url: string): Readonly<Record<string, string>> {
    const isOwn = httpOrigin(url) === httpOrigin(this.first.url);
    return { ...(isOwn && this.endpoint.headers), 'x-call-id': this.call.callId };
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

/** What an address of a WebSocket must not have (RFC 6455, section 3), or would never reach the agent. */
function notInStreamUrl({ hash, username, password }: URL): string | undefined {
  if (hash !== '') return 'a fragment (#), which no WebSocket address has';
  if (username !== '' || password !== '') return 'a user name or password, which is not sent: use <Parameter>';
  return undefined;
}

const httpOrigin = (url: string): string => new URL(url.replace(/^ws/i, 'http')).origin;

/** Two letters and 32 hexadecimal digits, as Twilio's identifiers. */
const sid = (prefix: string): string => `${prefix}${randomBytes(16).toString('hex')}`;

function findingsOf({ url }: StreamNoun, agent: OtherSide): WireFinding[] {
  const findings: WireFinding[] = [];
  const shown = agent.excerpt(withoutSecrets(url));
  if (url.includes('?')) {
    findings.push({
      ...twilioFinding('query_in_stream_url', `The url of <Stream> has a query string: ${shown}`),
      atMs: null,
    });
  }
  if (/^ws:/i.test(url)) {
    findings.push({
      ...twilioFinding('insecure_stream_url', `The url of <Stream> has no TLS: ${shown}`),
      atMs: null,
    });
  }
  return findings;
}
