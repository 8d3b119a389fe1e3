import { BlockList, isIP } from 'node:net';
import type { OutboundClient } from '../../../../outbound-http/index.js';
import { type MediaAnswer, numberOf, parseSipAddress, type SessionEvents } from '../../../../sip/index.js';
import { Redaction } from '../../../../text/index.js';
import type { OtherSide } from '../../../other-side/other-side.js';
import { CallFailure } from '../../../timeline/failure.js';
import type { JsonValue } from '../../../timeline/text.js';
import type { CallSignal, DatagramTarget } from '../../../voice/wire/signalling.js';
import type { PlatformEvent } from '../../../voice/facts/facts.js';
import { addressesOf } from '../../http/outbound-failures.js';
import type { TelephoneLine } from '../../modules/endpoint.js';
import type { Dialled, DialOptions } from '../../modules/module.js';
import { httpUrl } from './connect.js';
import { masked } from './masked.js';
import type { LoggedMessage, SipSignal, SipState } from './state.js';

const ENDINGS = { 'other side': 'ended', network: 'lost', connection: 'disconnected' } as const;
/** Messages before the answer that are kept for the wire log. */
const MOST_MESSAGES = 200;

export interface AnsweredOptions {
  readonly client: OutboundClient;
  /** How failures describe the other side. */
  readonly agent: OtherSide;
  /** Removed from everything that is kept. */
  readonly secrets: readonly string[];
  /** Master key and salt of ours, in base64; absent without SRTP. */
  readonly srtpKey?: string;
  readonly onSignal?: DialOptions['onSignal'];
}

interface AnsweredDetails {
  /** Before the answer. */
  readonly events?: readonly PlatformEvent[];
  readonly isTest?: boolean;
  /** On the clock of `performance`; absent if the other side has called. */
  readonly invitedAt?: number;
}

/**
 * A call of SIP from its answer on, whichever side has called: what is signalled goes to its wire, and its media through the
 * outbound filter. The caller of this has the events and the trace of `libs/sip`.
 */
export class AnsweredCall {
  /** Of the connection, as the other side has it: media may come from there. */
  peer = '';
  /** Where this call takes media, and where all calls of this service do. */
  own: ({ readonly address: string; readonly port: number } & TelephoneLine['media']) | undefined;
  private readonly messages: LoggedMessage[] = [];
  private readonly redaction: Redaction;
  private media: MediaAnswer | undefined;
  private answeredAt = 0;
  /** The host that they described at first, and its address. */
  private first = { host: '', address: '' };

  constructor(private readonly options: AnsweredOptions) {
    this.redaction = new Redaction(options.secrets);
  }

  /** For the endpoint: keeps each message for the wire log. */
  readonly trace = (direction: LoggedMessage['direction'], text: string): void => {
    const message = { direction, text: this.redaction.clean(masked(text)) };
    const at = epoch();
    if (this.media) this.signal({ type: 'message', ...message }, { line: this.lineOf({ at, ...message }) });
    else if (this.messages.length < MOST_MESSAGES) this.messages.push({ at, ...message });
  };

  /** For the call. */
  readonly events: SessionEvents = {
    media: (media) => this.moved(media),
    transfer: (target) => this.signal({ type: 'transfer', target: this.redaction.clean(shownTarget(target)) }),
    ended: (by, reason) => this.signal({ type: ENDINGS[by], reason: this.redaction.clean(reason) }),
  };

  signal(message: SipSignal, more: Pick<CallSignal, 'target' | 'line'> = {}): void {
    this.options.onSignal?.({ at: epoch(), message: message as unknown as JsonValue, ...more });
  }

  private lineOf({ at, direction, text }: LoggedMessage): string {
    const atMs = Math.round((at - this.answeredAt) * 1_000) / 1_000;
    return JSON.stringify({ atMs, direction, message: { sip: text } });
  }

  /**
   * What the wire and the media thread need, once the call was answered.
   * @param answeredAt on the clock of `performance`
   * @throws CallFailure if the media address must not be reached
   */
  async dialled(
    { media, answeredAt }: { readonly media: MediaAnswer; readonly answeredAt: number },
    { events = [], isTest = false, invitedAt }: AnsweredDetails = {},
  ): Promise<Dialled<SipState>> {
    const { client, agent, secrets } = this.options;
    const host = isNowhere(media) ? this.peer : media.address;
    const addresses = await addressesOf(client, httpUrl({ host, port: media.port }), agent);
    const address = addresses.find((one) => isIP(one) === isIP(this.peer)) ?? addresses[0]!;
    if (this.isOwn({ ...media, address })) {
      throw new CallFailure('address_refused', agent.describe({ what: 'its media address is that of this service' }));
    }
    this.media = { ...media, address };
    this.first = { host: media.address, address };
    this.answeredAt = performance.timeOrigin + answeredAt;
    const { codec, payloadType, eventPayloadType = null } = media;
    return {
      media: this.target(this.media),
      state: {
        answeredAt: this.answeredAt,
        ...(invitedAt !== undefined && { answeredAfterMs: answeredAt - invitedAt }),
        media: { codec, payloadType, eventPayloadType },
        messages: this.messages,
        isTest,
        secrets,
      },
      sounds: [],
      found: { findings: [], events },
    };
  }

  private target({ address, port, rtcpPort, rtcpMux, srtpKey }: MediaAnswer): DatagramTarget {
    const { client, srtpKey: ours } = this.options;
    return {
      expected: [
        { address, port },
        { address: this.peer, port },
      ],
      ...(!rtcpMux && { rtcpPort }),
      ...(ours !== undefined && srtpKey !== undefined && { srtp: { ours, theirs: srtpKey } }),
      allowedNetworks: client.settings.allowedNetworks ?? [],
    };
  }

  /** A re-INVITE: hold, its end, or media elsewhere. @returns whether it can be followed */
  private moved(media: MediaAnswer): boolean {
    const before = this.media;
    if (!before) return false;
    const known = media.address === this.first.host ? this.first.address : media.address;
    const next = { ...media, address: isNowhere(media) ? before.address : known };
    if ((next.address !== before.address && !this.permits(next)) || this.isOwn(next)) return false;
    this.media = next;
    const { codec, payloadType, eventPayloadType = null, hold } = next;
    const isElsewhere = next.address !== before.address || next.port !== before.port;
    const message = { type: 'media', hold, isElsewhere, media: { codec, payloadType, eventPayloadType } } as const;
    this.signal(message, { target: this.target(next) });
    return true;
  }

  /** Whether sound would come back to this service: to ports of its media, or to its public address, unless the peer shares it. */
  private isOwn({ address, port, rtcpPort }: MediaAnswer): boolean {
    if (!this.own) return false;
    const { address: local, port: bound, publicAddress = local, ports } = this.own;
    const { first, last } = ports ?? { first: bound, last: bound + 1 };
    const isOwnPort = [port, rtcpPort].some((one) => one >= first && one <= last);
    const isPublic = isSame(address, publicAddress);
    if (isPublic && publicAddress !== local && !isSame(this.peer, publicAddress)) return true;
    return isOwnPort && (isPublic || isSame(address, local));
  }

  /** Other names than the first are not looked up within a call. */
  private permits({ address, port }: MediaAnswer): boolean {
    return isIP(address) !== 0 && this.options.client.check(httpUrl({ host: address, port })) === undefined;
  }
}

/** Whether a hold names no place for sound. */
const isNowhere = ({ hold, address }: MediaAnswer): boolean => hold && /^[0:.]+$/.test(address);

/** In whatever notation. */
function isSame(address: string, other: string): boolean {
  const family = (one: string) => (isIP(one) === 6 ? 'ipv6' : 'ipv4');
  const list = new BlockList();
  list.addAddress(other, family(other));
  return list.check(address, family(address));
}

const epoch = (): CallSignal['at'] => performance.timeOrigin + performance.now();

/** The number or address of a Refer-To, without what only its protocol needs. */
function shownTarget(referTo: string): string {
  const [, uri = referTo] = /<([^>]*)>/.exec(referTo) ?? [];
  const [plain = uri] = uri.split(/[;?]/);
  if (/^tel:/i.test(plain)) return plain.slice(4);
  try {
    const { user = '', host } = parseSipAddress(plain);
    return numberOf(user) ?? (user === '' ? host : `sip:${user}@${host}`);
  } catch {
    return plain;
  }
}
