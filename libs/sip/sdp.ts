import { isIP } from 'node:net';

const SUITE = 'AES_CM_128_HMAC_SHA1_80';
const OUR_EVENTS = 101;
const MOST_MEDIA_LINES = 20;

export interface MediaOffer {
  /** Address and port at which sound is received. */
  readonly address: string;
  readonly port: number;
  /** Names the session; the same in every answer to a re-INVITE. */
  readonly session: number;
  /** Master key and salt (30 bytes, base64). Present: SRTP is required (RFC 4568). */
  readonly srtpKey?: string;
}

/** An offer of PCMU, PCMA and telephone-event (RFC 4733), with RTCP on the same port if they want it. */
export function mediaOffer({ address, port, session, srtpKey }: MediaOffer): string {
  const family = isIP(address) === 6 ? 'IP6' : 'IP4';
  return [
    'v=0',
    `o=- ${session} 1 IN ${family} ${address}`,
    's=-',
    `c=IN ${family} ${address}`,
    't=0 0',
    `m=audio ${port} RTP/${srtpKey === undefined ? 'AVP' : 'SAVP'} 0 8 ${OUR_EVENTS}`,
    'a=rtpmap:0 PCMU/8000',
    'a=rtpmap:8 PCMA/8000',
    `a=rtpmap:${OUR_EVENTS} telephone-event/8000`,
    `a=fmtp:${OUR_EVENTS} 0-15`,
    'a=ptime:20',
    'a=rtcp-mux',
    ...(srtpKey === undefined ? [] : [`a=crypto:1 ${SUITE} inline:${srtpKey}`]),
    'a=sendrecv',
    '',
  ].join('\r\n');
}

export interface MediaAnswer {
  /** Where they receive sound: an address or a host name, not yet filtered. */
  readonly address: string;
  readonly port: number;
  readonly rtcpPort: number;
  readonly rtcpMux: boolean;
  readonly codec: 'PCMU' | 'PCMA';
  readonly payloadType: number;
  /** Their payload type for keys; undefined: they take none. */
  readonly eventPayloadType: number | undefined;
  /** They do not want to hear us (sendonly, inactive, or the old form, address 0.0.0.0). */
  readonly hold: boolean;
  /** Their master key and salt (30 bytes, base64). */
  readonly srtpKey: string | undefined;
}

/** Why a description cannot be used. */
export interface MediaRefusal {
  readonly refused: 'unreadable' | 'no_g711' | 'address' | 'srtp';
  readonly reason: string;
}

const refusal = (refused: MediaRefusal['refused'], reason: string): MediaRefusal => ({ refused, reason });

/** Reads their description. `srtp`: whether we require it; `mayHold`: a re-INVITE may name the address 0.0.0.0. */
export function readMedia(
  sdp: string,
  { srtp, mayHold = false }: { srtp: boolean; mayHold?: boolean },
): MediaAnswer | MediaRefusal {
  const lines = sdp.split(/\r\n|\r|\n/);
  const starts = lines.flatMap((line, index) => (line.startsWith('m=') ? [index] : []));
  if (starts.length === 0) return refusal('unreadable', 'no media line in the description');
  if (starts.length > MOST_MEDIA_LINES) return refusal('unreadable', `${starts.length} media lines in the description`);
  const start = starts.find((index) => /^m=audio [1-9]\d*(\/\d+)? /.test(lines[index] ?? ''));
  if (start === undefined) return refusal('no_g711', 'no audio in the description');
  const session = lines.slice(0, starts[0]);
  const media = lines.slice(
    start,
    starts.find((index) => index > start),
  );
  const [, portText, profile = '', formats = ''] = /^m=audio (\d+)\S* (\S+) (.+)$/.exec(media[0] ?? '') ?? [];
  const port = Number(portText);
  if (!(port > 0 && port < 65_536)) return refusal('unreadable', 'no valid media port');
  const codecs = codecsOf(media, formats.trim().split(/\s+/));
  if (codecs.sound === undefined) return refusal('no_g711', `neither PCMU nor PCMA in "${clip(media[0] ?? '')}"`);
  const address = /^c=IN IP[46] ([^\s/]+)/m.exec(`${media.join('\n')}\n${session.join('\n')}`)?.[1];
  const onHold = address !== undefined && ['0.0.0.0', '::'].includes(address);
  const fault = address === undefined ? 'no media address' : addressFault(address, mayHold && onHold);
  if (address === undefined || fault !== undefined) return refusal('address', fault ?? '');
  const secured = securityOf(media, profile, srtp);
  if (typeof secured === 'object') return secured;
  const direction = directionOf(media) ?? directionOf(session) ?? 'sendrecv';
  const rtcpPort = Number(attribute(media, 'rtcp')?.split(' ')[0]);
  return {
    address,
    port,
    rtcpPort: rtcpPort > 0 && rtcpPort < 65_536 ? rtcpPort : port + 1,
    rtcpMux: media.includes('a=rtcp-mux'),
    codec: codecs.sound.codec,
    payloadType: codecs.sound.payloadType,
    eventPayloadType: codecs.events,
    hold: onHold || direction === 'sendonly' || direction === 'inactive',
    srtpKey: secured,
  };
}

const clip = (line: string): string => line.slice(0, 100);

const attribute = (lines: readonly string[], name: string): string | undefined =>
  lines.find((line) => line.startsWith(`a=${name}:`))?.slice(name.length + 3);

const directionOf = (lines: readonly string[]): string | undefined =>
  lines
    .find((line) => /^a=(sendrecv|sendonly|recvonly|inactive)\s*$/.test(line))
    ?.slice(2)
    .trim();

interface Codecs {
  sound: { codec: 'PCMU' | 'PCMA'; payloadType: number } | undefined;
  events: number | undefined;
}

/** A payload type means what its `rtpmap` says, otherwise 0 is PCMU and 8 is PCMA (RFC 3551). */
function codecsOf(media: readonly string[], formats: readonly string[]): Codecs {
  const names = new Map([
    ['0', 'PCMU/8000'],
    ['8', 'PCMA/8000'],
  ]);
  for (const line of media) {
    const [, type, name] = /^a=rtpmap:(\d{1,3})\s+(\S+)/.exec(line) ?? [];
    if (type !== undefined && name !== undefined) names.set(type, name.toUpperCase().replace(/\/1$/, ''));
  }
  const found: Codecs = { sound: undefined, events: undefined };
  for (const format of formats) {
    const [codec, rate] = names.get(format)?.split('/') ?? [];
    if (rate !== '8000' || Number(format) > 127) continue;
    if (codec === 'PCMU' || codec === 'PCMA') found.sound ??= { codec, payloadType: Number(format) };
    if (codec === 'TELEPHONE-EVENT') found.events ??= Number(format);
  }
  return found;
}

/** Addresses that no host has. The filter for private and own addresses is the caller's. */
function addressFault(address: string, unspecifiedAllowed: boolean): string | undefined {
  const first = Number(address.split('.')[0]);
  const multicast = isIP(address) === 4 ? first >= 224 : isIP(address) === 6 && /^ff/i.test(address);
  if (multicast) return `media address ${clip(address)} is multicast, broadcast or reserved`;
  const unspecified = (isIP(address) === 4 && first === 0) || /^[0:]+$/.test(address);
  if (unspecified && !unspecifiedAllowed) return `media address ${clip(address)} is unspecified`;
  if (isIP(address) === 0 && !/^[\w.-]{1,253}$/.test(address)) return 'media address that cannot be read';
  return undefined;
}

/** Their key, undefined without SRTP, or the refusal. The lifetime of a key is ignored, an MKI refused. */
function securityOf(media: readonly string[], profile: string, required: boolean): string | undefined | MediaRefusal {
  if (!/^(?:UDP\/TLS\/)?RTP\/S?AVPF?$/.test(profile)) return refusal('unreadable', `media profile "${clip(profile)}"`);
  const secure = profile.includes('SAVP');
  if (secure !== required) {
    return refusal(
      'srtp',
      required ? 'the answer has no SRTP, which is required' : 'the answer has SRTP, which was not offered',
    );
  }
  if (!required) return undefined;
  for (const line of media) {
    const [, key, rest = ''] = /^a=crypto:\d+\s+AES_CM_128_HMAC_SHA1_80\s+inline:([^\s|]+)(\S*)/.exec(line) ?? [];
    if (key !== undefined && Buffer.from(key, 'base64').length === 30 && !rest.includes(':')) return key;
  }
  return refusal('srtp', `no key for ${SUITE} without MKI in the answer`);
}
