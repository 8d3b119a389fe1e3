import { isIP } from 'node:net';

const SUITE = 'AES_CM_128_HMAC_SHA1_80';
const CRYPTO = /^a=crypto:(\d+)\s+AES_CM_128_HMAC_SHA1_80\s+inline:([^\s|]+)(\S*)/;
const OUR_EVENTS = 101;
const MOST_MEDIA_LINES = 20;

export interface MediaOffer {
  /** Address and port at which sound is received. */
  readonly address: string;
  readonly port: number;
  /** Names the session; the same in every answer to a re-INVITE. */
  readonly session: number;
  /** Counts the changes of what is described. Default: 1. */
  readonly version?: number;
  /** Master key and salt (30 bytes, base64). Present: SRTP is required (RFC 4568). */
  readonly srtpKey?: string;
}

interface AudioLine {
  readonly profile: string;
  readonly codecs: readonly (readonly [payloadType: number, name: 'PCMU' | 'PCMA'])[];
  readonly events: number | undefined;
  readonly mux: boolean;
  /** Of the attribute `crypto`; an answer repeats the one that it chose. */
  readonly keyTag: string;
  readonly direction: string;
}

const audioLine = ({ port, srtpKey }: MediaOffer, line: AudioLine): string[] => [
  `m=audio ${port} ${line.profile} ${[...line.codecs.map(([type]) => type), ...(line.events === undefined ? [] : [line.events])].join(' ')}`,
  ...line.codecs.map(([type, name]) => `a=rtpmap:${type} ${name}/8000`),
  ...(line.events === undefined ? [] : [`a=rtpmap:${line.events} telephone-event/8000`, `a=fmtp:${line.events} 0-15`]),
  'a=ptime:20',
  ...(line.mux ? ['a=rtcp-mux'] : []),
  ...(srtpKey === undefined ? [] : [`a=crypto:${line.keyTag} ${SUITE} inline:${srtpKey}`]),
  `a=${line.direction}`,
];

function description({ address, session, version = 1 }: MediaOffer, media: readonly string[]): string {
  const family = isIP(address) === 6 ? 'IP6' : 'IP4';
  const head = [`o=- ${session} ${version} IN ${family} ${address}`, 's=-', `c=IN ${family} ${address}`, 't=0 0'];
  return ['v=0', ...head, ...media, ''].join('\r\n');
}

/** An offer of PCMU, PCMA and telephone-event (RFC 4733), with RTCP on the same port if they want it. */
export const mediaOffer = (own: MediaOffer): string =>
  description(
    own,
    audioLine(own, {
      profile: own.srtpKey === undefined ? 'RTP/AVP' : 'RTP/SAVP',
      codecs: [
        [0, 'PCMU'],
        [8, 'PCMA'],
      ],
      events: OUR_EVENTS,
      mux: true,
      keyTag: '1',
      direction: 'sendrecv',
    }),
  );

const ANSWERED_DIRECTION: Record<string, string> = { sendonly: 'recvonly', recvonly: 'sendonly', inactive: 'inactive' };

/** The answer to their offer (RFC 3264): the form of G.711 that they prefer, their payload type for keys, no other media. */
export function mediaAnswer(sdp: string, own: MediaOffer): string | MediaRefusal {
  const read = readDescription(sdp, { srtp: own.srtpKey !== undefined, mayHold: true });
  if ('refused' in read) return read;
  const { media, mediaLines, chosen, profile, keyTag, direction } = read;
  const ours = audioLine(own, {
    profile,
    codecs: [[media.payloadType, media.codec]],
    events: media.eventPayloadType,
    mux: media.rtcpMux,
    keyTag,
    direction: ANSWERED_DIRECTION[direction] ?? 'sendrecv',
  });
  const refused = (line: string): string => line.replace(/^(m=\S+) \S+/, '$1 0');
  return description(
    own,
    mediaLines.flatMap((line, index) => (index === chosen ? ours : [refused(line)])),
  );
}

/** What we described, so that a later description keeps its address, port and key. */
function ownOf(described: string): MediaOffer & { readonly version: number } {
  const found = (pattern: RegExp): string | undefined => pattern.exec(described)?.[1];
  const srtpKey = found(/^a=crypto:\S+ \S+ inline:(\S+)/m);
  return {
    address: found(/^c=IN IP[46] (\S+)/m) ?? '',
    port: Number(found(/^m=audio ([1-9]\d*)/m)),
    session: Number(found(/^o=- (\d+)/m)),
    version: Number(found(/^o=- \d+ (\d+)/m)),
    ...(srtpKey !== undefined && { srtpKey }),
  };
}

/** The answer to an offer within a call. A description that changes has the next version (RFC 3264, section 8). */
export function nextAnswer(sdp: string, described: string): string | MediaRefusal {
  const own = ownOf(described);
  const answer = mediaAnswer(sdp, own);
  return typeof answer !== 'string' || answer === described
    ? answer
    : mediaAnswer(sdp, { ...own, version: own.version + 1 });
}

/** The offer of before, within a call: all that we can, also after a hold. */
export const nextOffer = (offer: string, described: string): string =>
  offer === described ? offer : offer.replace(/^(o=- \d+) \d+/m, `$1 ${ownOf(described).version + 1}`);

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

interface MediaRequirements {
  /** Whether we require it. */
  readonly srtp: boolean;
  /** A re-INVITE may name the address 0.0.0.0. */
  readonly mayHold?: boolean;
}

/** Reads their description. */
export function readMedia(sdp: string, requirements: MediaRequirements): MediaAnswer | MediaRefusal {
  const read = readDescription(sdp, requirements);
  return 'refused' in read ? read : read.media;
}

interface Description {
  readonly media: MediaAnswer;
  /** All lines `m=`, and which of them `media` is. */
  readonly mediaLines: readonly string[];
  readonly chosen: number;
  readonly profile: string;
  readonly keyTag: string;
  readonly direction: string;
}

function readDescription(sdp: string, { srtp, mayHold = false }: MediaRequirements): Description | MediaRefusal {
  const lines = sdp.split(/\r\n|\r|\n/);
  const starts = lines.flatMap((line, index) => (line.startsWith('m=') ? [index] : []));
  if (starts.length === 0) return refusal('unreadable', 'no media line in the description');
  if (starts.length > MOST_MEDIA_LINES) return refusal('unreadable', `${starts.length} media lines in the description`);
  const audio = starts.filter((index) => /^m=audio [1-9]\d*(\/\d+)? /.test(lines[index] ?? ''));
  // Some offer the same sound with and without SRTP.
  const start = audio.find((index) => /^\S+ \S+ \S*SAVP/.test(lines[index] ?? '') === srtp) ?? audio[0];
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
  if ('refused' in secured) return secured;
  const direction = directionOf(media) ?? directionOf(session) ?? 'sendrecv';
  const rtcpPort = Number(attribute(media, 'rtcp')?.split(' ')[0]);
  return {
    mediaLines: starts.map((index) => lines[index] ?? ''),
    chosen: starts.indexOf(start),
    profile,
    keyTag: secured.tag,
    direction,
    media: {
      address,
      port,
      rtcpPort: rtcpPort > 0 && rtcpPort < 65_536 ? rtcpPort : port + 1,
      rtcpMux: media.includes('a=rtcp-mux'),
      codec: codecs.sound.codec,
      payloadType: codecs.sound.payloadType,
      eventPayloadType: codecs.events,
      hold: onHold || direction === 'sendonly' || direction === 'inactive',
      srtpKey: secured.key,
    },
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

interface MediaSecurity {
  /** Undefined without SRTP. */
  readonly key: string | undefined;
  readonly tag: string;
}

/** Their key. Its lifetime is ignored, an MKI refused. */
function securityOf(media: readonly string[], profile: string, required: boolean): MediaSecurity | MediaRefusal {
  if (!/^(?:UDP\/TLS\/)?RTP\/S?AVPF?$/.test(profile)) return refusal('unreadable', `media profile "${clip(profile)}"`);
  const secure = profile.includes('SAVP');
  if (secure !== required)
    return refusal('srtp', required ? 'no SRTP, which is required' : 'SRTP, which is not offered here');
  if (!required) return { key: undefined, tag: '' };
  for (const line of media) {
    const [, tag = '', key, rest = ''] = CRYPTO.exec(line) ?? [];
    if (key !== undefined && Buffer.from(key, 'base64').length === 30 && !rest.includes(':')) return { key, tag };
  }
  return refusal('srtp', `no key for ${SUITE} without MKI`);
}
