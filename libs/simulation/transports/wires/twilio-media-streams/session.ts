import { withoutSecrets } from '../../../other-side/other-side.js';
import type { Failure } from '../../../timeline/failure.js';
import type { VoiceFacts, WireFinding } from '../../../voice/facts/facts.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import type { Dialled, DialOptions, Found, Probed, WireSession } from '../../modules/module.js';
import type { DialledAddress } from '../../twiml/addresses.js';
import { twimlFinding } from '../../twiml/findings.js';
import { twilioSignature } from '../../twiml/signature.js';
import type { StreamNoun } from '../../twiml/twiml.js';
import { sid, WebhookCall } from '../../twiml/webhook-call.js';
import { cureOf } from './cures.js';
import { probe } from './probe.js';
import type { TwilioStream } from './wire.js';

const NO_WEBHOOK = 'The url is a WebSocket: there is no webhook';

/** One call as Twilio makes it: the webhook, the stream that its TwiML connects, and what follows after the stream. */
export class TwilioSession implements WireSession<TwilioStream> {
  readonly webhook: WebhookCall;
  /** The stream that the TwiML connects. */
  stream: DialledAddress | undefined;

  constructor(
    endpoint: AgentEndpoint,
    readonly call: AgentCall,
  ) {
    this.webhook = new WebhookCall(endpoint, call);
  }

  get agent() {
    return this.webhook.agent;
  }

  get secrets() {
    return this.webhook.secrets;
  }

  get streamAddress(): string | undefined {
    return this.stream && `${withoutSecrets(this.stream.url)}, which the TwiML names`;
  }

  /** Whether the call begins with the WebSocket, without a webhook. */
  get isDirect(): boolean {
    return /^wss?:/i.test(this.webhook.first.url);
  }

  get skippedSteps(): Readonly<Record<string, string>> {
    return this.isDirect ? { accepted: NO_WEBHOOK, twiml: NO_WEBHOOK } : {};
  }

  /** Finds the stream: at once for a WebSocket address, else by the webhook's TwiML. Waits as long as its verbs before take. */
  async dial(options: DialOptions): Promise<Dialled<TwilioStream>> {
    const { webhook } = this;
    if (this.isDirect) return this.toStream(webhook.first, webhook.options.parameters ?? {});
    const { noun, answeredAt, found } = await webhook.connect(options);
    // As a relative address, nothing would be the address of the document.
    if (noun.url === '') throw webhook.invalid('its <Stream> has no url');
    const address = webhook.addresses.resolveStream(noun.url, webhook.base);
    if (!address) throw webhook.invalid('the url of its <Stream> is not a wss address');
    this.stream = address;
    const extra = notInStreamUrl(new URL(address.url));
    if (extra !== undefined) throw webhook.invalid(`the url of its <Stream> has ${extra}`);
    const findings = [...this.findingsOf(noun), ...found.findings];
    await webhook.passPrelude(answeredAt, options);
    options.onStep('twiml');
    const { sounds } = webhook;
    return {
      ...this.toStream(address, noun.parameters),
      answeredAt,
      sounds,
      found: { ...found, findings },
      stream: address,
    };
  }

  async after(facts: VoiceFacts, signal: AbortSignal): Promise<Found> {
    return this.isDirect ? { events: [], findings: [] } : this.webhook.after(facts, signal);
  }

  probe(problem: Failure | undefined, signal: AbortSignal): Promise<Probed> {
    return probe(this, problem, signal);
  }

  cure(step: string, failure: Failure): string | undefined {
    const { authToken, first, addresses } = this.webhook;
    // Not that of the stream, which only the TwiML names.
    const isFirst = step === 'accepted' || this.isDirect;
    const signedUrl = isFirst && authToken !== undefined ? withoutSecrets(first.signedUrl) : undefined;
    const publicUrl = step === 'websocket' && this.stream && addresses.publicUrlAt(this.stream.signedUrl);
    const stream = step === 'websocket' && this.stream ? shownAddress(this.stream) : undefined;
    return cureOf(step, failure, { signedUrl, publicUrl: publicUrl ? withoutSecrets(publicUrl) : undefined, stream });
  }

  /** Headers of the upgrade, signed over an address. */
  upgradeHeaders(url: string, signedUrl: string, authToken = this.webhook.authToken): Readonly<Record<string, string>> {
    return {
      ...this.webhook.headersTo(url),
      ...(authToken !== undefined && { 'x-twilio-signature': twilioSignature(authToken, signedUrl) }),
    };
  }

  private toStream(
    { url, signedUrl }: DialledAddress,
    customParameters: Readonly<Record<string, string>>,
  ): Dialled<TwilioStream> {
    const { agent, accountSid, callSid, secrets } = this.webhook;
    return {
      socket: {
        url,
        headers: this.upgradeHeaders(url, signedUrl),
        shownUrl: this.streamAddress ?? agent.address,
      },
      state: { accountSid, callSid, streamSid: sid('MZ'), customParameters, secrets: secrets.all },
      sounds: [],
      found: { findings: [], events: [] },
    };
  }

  private findingsOf({ url, track }: StreamNoun): WireFinding[] {
    const shown = this.agent.excerpt(withoutSecrets(url));
    const query = twimlFinding('query_in_stream_url', `The url of <Stream> has a query string: ${shown}`);
    const insecure = twimlFinding('insecure_stream_url', `The url of <Stream> has no TLS: ${shown}`);
    const wrongTrack = twimlFinding('wrong_track', `<Stream> has track="${this.agent.excerpt(track ?? '')}"`);
    return [
      ...(url.includes('?') ? [query] : []),
      ...(/^ws:/i.test(url) ? [insecure] : []),
      ...(track !== undefined && track !== 'inbound_track' ? [wrongTrack] : []),
    ].map((finding) => ({ ...finding, atMs: null }));
  }
}

const shownAddress = ({ url, signedUrl }: DialledAddress): DialledAddress => ({
  url: withoutSecrets(url),
  signedUrl: withoutSecrets(signedUrl),
});

/** What an address of a WebSocket must not have (RFC 6455, section 3), or would never reach the agent. */
function notInStreamUrl({ hash, username, password }: URL): string | undefined {
  if (hash !== '') return 'a fragment (#), which no WebSocket address has';
  if (username !== '' || password !== '') return 'a user name or password, which is not sent: use <Parameter>';
  return undefined;
}
