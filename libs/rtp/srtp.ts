import { createCipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { bufferOf, type Refused, rtpHeaderLength, type RtpRefusal } from './packet.js';
import { distance16 } from './serial.js';

/** Bytes of a master key (16) and its salt (14), as the attribute `crypto` of SDP carries them (RFC 4568). */
export const SRTP_KEY_BYTES = 30;

export type SrtpRefusal = RtpRefusal | 'wrong_tag' | 'replayed' | 'too_many_sources';

const KEY = 16;
const TAG = 10;
const RTCP_HEADER = 8;
const REPLAY_WINDOW = 64;
/** Sources that a receiver keeps counters of. */
const SOURCES = 20;

interface SessionKeys {
  readonly cipher: Buffer;
  readonly authentication: Buffer;
  readonly salt: Buffer;
}

/** AES in counter mode; encrypts and decrypts (RFC 3711, section 4.1.1). */
export function counterMode(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Buffer {
  return createCipheriv('aes-128-ctr', key, iv).update(data);
}

/** The session keys of a master key and salt without re-keying. @param label of the cipher: 0 for SRTP, 3 for SRTCP */
export function sessionKeys(master: Uint8Array, label: 0 | 3): SessionKeys {
  if (master.length !== SRTP_KEY_BYTES) throw new RangeError(`An SRTP key and its salt have ${SRTP_KEY_BYTES} bytes.`);
  const derive = (number: number, length: number): Buffer => {
    const iv = Buffer.alloc(16);
    iv.set(master.subarray(KEY));
    iv[7]! ^= number;
    return counterMode(master.subarray(0, KEY), iv, Buffer.alloc(length));
  };
  return { cipher: derive(label, KEY), authentication: derive(label + 1, 20), salt: derive(label + 2, 14) };
}

/** Encrypts or decrypts what follows the header. @param index of the packet, up to 48 bits */
function transform(keys: SessionKeys, bytes: Buffer, header: number, ssrc: number, index: number): Buffer {
  const mask = Buffer.alloc(16);
  mask.writeUInt32BE(ssrc, 4);
  mask.writeUIntBE(index, 8, 6);
  const iv = mask.map((byte, n) => byte ^ (keys.salt[n] ?? 0));
  return Buffer.concat([bytes.subarray(0, header), counterMode(keys.cipher, iv, bytes.subarray(header))]);
}

function tagOf(keys: SessionKeys, bytes: Uint8Array, suffix: Uint8Array): Buffer {
  return createHmac('sha1', keys.authentication).update(bytes).update(suffix).digest().subarray(0, TAG);
}

function rolloverBytes(index: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(Math.floor(index / 0x1_0000) >>> 0);
  return bytes;
}

/** Index nearest to the highest one that has the sequence number (RFC 3711, section 3.3.1). */
const nearestIndex = (highest: number, sequence: number): number => highest + distance16(sequence, highest & 0xffff);

/** Encrypts outgoing packets with `AES_CM_128_HMAC_SHA1_80` (RFC 3711). Each source has a rollover counter of its own. */
export class SrtpSender {
  private readonly rtp: SessionKeys;
  private readonly rtcp: SessionKeys;
  private readonly highest = new Map<number, number>();
  private rtcpIndex = 0;

  /** @param master key and salt, 30 bytes @throws RangeError for another length */
  constructor(master: Uint8Array) {
    this.rtp = sessionKeys(master, 0);
    this.rtcp = sessionKeys(master, 3);
  }

  /** @param packet written by `writeRtp` */
  protect(packet: Buffer): Buffer {
    const [sequence, ssrc] = [packet.readUInt16BE(2), packet.readUInt32BE(8)];
    const highest = this.highest.get(ssrc);
    const index = highest === undefined ? sequence : nearestIndex(highest, sequence);
    this.highest.set(ssrc, Math.max(index, highest ?? 0));
    const sent = transform(this.rtp, packet, rtpHeaderLength(packet) as number, ssrc, index);
    return Buffer.concat([sent, tagOf(this.rtp, sent, rolloverBytes(index))]);
  }

  /** @param packet written by `writeRtcp` */
  protectRtcp(packet: Buffer): Buffer {
    const index = ++this.rtcpIndex;
    const trailer = Buffer.alloc(4);
    trailer.writeUInt32BE((index | 0x8000_0000) >>> 0);
    const sent = Buffer.concat([transform(this.rtcp, packet, RTCP_HEADER, packet.readUInt32BE(4), index), trailer]);
    return Buffer.concat([sent, tagOf(this.rtcp, sent, Buffer.alloc(0))]);
  }
}

/** Which indices were received: the highest one and the 64 up to it (RFC 3711, section 3.3.2). */
class ReplayWindow {
  private received = 1n;

  constructor(public highest: number) {}

  isNew(index: number): boolean {
    const age = this.highest - index;
    return age < 0 || (age < REPLAY_WINDOW && ((this.received >> BigInt(age)) & 1n) === 0n);
  }

  add(index: number): void {
    const ahead = index - this.highest;
    if (ahead <= 0) this.received |= 1n << BigInt(-ahead);
    else {
      this.received = ahead < REPLAY_WINDOW ? BigInt.asUintN(REPLAY_WINDOW, (this.received << BigInt(ahead)) | 1n) : 1n;
      this.highest = index;
    }
  }
}

/** Decrypts packets of the other side. Its counters change by packets with a right tag only. */
export class SrtpReceiver {
  private readonly rtp: SessionKeys;
  private readonly rtcp: SessionKeys;
  private readonly rtpWindows = new Map<number, ReplayWindow>();
  private readonly rtcpWindows = new Map<number, ReplayWindow>();

  /** @param master the other side's key and salt, 30 bytes @throws RangeError for another length */
  constructor(master: Uint8Array) {
    this.rtp = sessionKeys(master, 0);
    this.rtcp = sessionKeys(master, 3);
  }

  unprotect(bytes: Uint8Array): Buffer | Refused<SrtpRefusal> {
    const header = rtpHeaderLength(bytes);
    if (typeof header !== 'number') return header;
    const end = bytes.length - TAG;
    if (end < header) return { refusal: 'too_short' };
    const packet = bufferOf(bytes);
    const [body, tag] = [packet.subarray(0, end), packet.subarray(end)];
    const [sequence, ssrc] = [packet.readUInt16BE(2), packet.readUInt32BE(8)];
    const window = this.rtpWindows.get(ssrc);
    const isRight = (index: number): boolean => timingSafeEqual(tag, tagOf(this.rtp, body, rolloverBytes(index)));
    // The first packets of a source may be lost, and its sequence numbers may have begun again among them.
    const candidates = window ? [nearestIndex(window.highest, sequence)] : [sequence, sequence + 0x1_0000];
    if (window && candidates[0]! >= 0 && !window.isNew(candidates[0]!)) return { refusal: 'replayed' };
    const index = candidates.find((candidate) => candidate >= 0 && isRight(candidate));
    if (index === undefined) return { refusal: 'wrong_tag' };
    return this.accept(this.rtpWindows, ssrc, index) ?? transform(this.rtp, body, header, ssrc, index);
  }

  unprotectRtcp(bytes: Uint8Array): Buffer | Refused<SrtpRefusal> {
    const end = bytes.length - TAG;
    if (end < RTCP_HEADER + 4) return { refusal: 'too_short' };
    const packet = bufferOf(bytes);
    const signed = packet.subarray(0, end);
    const [ssrc, trailer] = [packet.readUInt32BE(4), packet.readUInt32BE(end - 4)];
    const index = trailer & 0x7fff_ffff;
    if (this.rtcpWindows.get(ssrc)?.isNew(index) === false) return { refusal: 'replayed' };
    const isRight = timingSafeEqual(packet.subarray(end), tagOf(this.rtcp, signed, Buffer.alloc(0)));
    if (!isRight) return { refusal: 'wrong_tag' };
    const body = signed.subarray(0, end - 4);
    const refused = this.accept(this.rtcpWindows, ssrc, index);
    return refused ?? (trailer >= 0x8000_0000 ? transform(this.rtcp, body, RTCP_HEADER, ssrc, index) : body);
  }

  private accept(
    windows: Map<number, ReplayWindow>,
    ssrc: number,
    index: number,
  ): Refused<'too_many_sources'> | undefined {
    const window = windows.get(ssrc);
    if (!window && windows.size >= SOURCES) return { refusal: 'too_many_sources' };
    if (window) window.add(index);
    else windows.set(ssrc, new ReplayWindow(index));
    return undefined;
  }
}
