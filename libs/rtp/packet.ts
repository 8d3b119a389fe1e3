/** A packet that was not read, and why. */
export interface Refused<Reason extends string> {
  readonly refusal: Reason;
}

/** Whether a function refused its input. */
export const isRefused = <T extends object, R extends string>(result: T | Refused<R>): result is Refused<R> =>
  'refusal' in result;

export type RtpRefusal =
  'too_short' | 'too_long' | 'wrong_version' | 'truncated_csrc' | 'truncated_extension' | 'wrong_padding';

export interface RtpPacket {
  readonly marker: boolean;
  /** 7 bits. */
  readonly payloadType: number;
  /** 16 bits. */
  readonly sequence: number;
  /** 32 bits, in ticks of the payload's clock. */
  readonly timestamp: number;
  /** 32 bits: the sender of the stream. */
  readonly ssrc: number;
  /** Contributing sources, at most 15. */
  readonly csrcs?: readonly number[];
  /** Header extension; the length of its data is a multiple of 4. */
  readonly extension?: { readonly profile: number; readonly data: Uint8Array };
  readonly payload: Uint8Array;
}

const FIXED_HEADER = 12;
/** The largest payload of Ethernet; the payload of 20 ms of G.711 is 160 bytes. */
const LARGEST = 1_500;

/** The same bytes as a Buffer, without a copy. */
export const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Length in bytes of the header of an RTP packet with its sources and extension, or why it has none. */
export function rtpHeaderLength(bytes: Uint8Array): number | Refused<RtpRefusal> {
  if (bytes.length < FIXED_HEADER) return { refusal: 'too_short' };
  if (bytes.length > LARGEST) return { refusal: 'too_long' };
  if (bytes[0]! >> 6 !== 2) return { refusal: 'wrong_version' };
  const length = FIXED_HEADER + 4 * (bytes[0]! & 0x0f);
  if (length > bytes.length) return { refusal: 'truncated_csrc' };
  if (!(bytes[0]! & 0x10)) return length;
  if (length + 4 > bytes.length) return { refusal: 'truncated_extension' };
  const end = length + 4 + 4 * bufferOf(bytes).readUInt16BE(length + 2);
  return end > bytes.length ? { refusal: 'truncated_extension' } : end;
}

/** Reads an RTP packet (RFC 3550, section 5.1) without padding. The payload shares the memory of `bytes`. */
export function readRtp(bytes: Uint8Array): RtpPacket | Refused<RtpRefusal> {
  const header = rtpHeaderLength(bytes);
  if (typeof header !== 'number') return header;
  const buffer = bufferOf(bytes);
  const padding = bytes[0]! & 0x20 ? bytes.at(-1)! : 0;
  if (bytes[0]! & 0x20 && (padding === 0 || header + padding > bytes.length)) return { refusal: 'wrong_padding' };
  const sources = bytes[0]! & 0x0f;
  const extension = FIXED_HEADER + 4 * sources;
  return {
    marker: bytes[1]! >= 0x80,
    payloadType: bytes[1]! & 0x7f,
    sequence: buffer.readUInt16BE(2),
    timestamp: buffer.readUInt32BE(4),
    ssrc: buffer.readUInt32BE(8),
    csrcs: Array.from({ length: sources }, (_, n) => buffer.readUInt32BE(FIXED_HEADER + 4 * n)),
    ...(bytes[0]! & 0x10 && {
      extension: { profile: buffer.readUInt16BE(extension), data: bytes.subarray(extension + 4, header) },
    }),
    payload: bytes.subarray(header, bytes.length - padding),
  };
}

/** Writes an RTP packet. @param padding number of bytes at its end, 0 to 255, the last of which is their number */
export function writeRtp({ csrcs = [], extension, payload, ...header }: RtpPacket, padding = 0): Buffer {
  const extensionLength = extension ? 4 + extension.data.length : 0;
  const start = FIXED_HEADER + 4 * csrcs.length;
  const bytes = Buffer.alloc(start + extensionLength + payload.length + padding);
  bytes[0] = 0x80 | (padding ? 0x20 : 0) | (extension ? 0x10 : 0) | csrcs.length;
  bytes[1] = (header.marker ? 0x80 : 0) | header.payloadType;
  bytes.writeUInt16BE(header.sequence, 2);
  bytes.writeUInt32BE(header.timestamp, 4);
  bytes.writeUInt32BE(header.ssrc, 8);
  csrcs.forEach((csrc, n) => bytes.writeUInt32BE(csrc, FIXED_HEADER + 4 * n));
  if (extension) {
    bytes.writeUInt16BE(extension.profile, start);
    bytes.writeUInt16BE(extension.data.length / 4, start + 2);
    bytes.set(extension.data, start + 4);
  }
  bytes.set(payload, start + extensionLength);
  if (padding) bytes[bytes.length - 1] = padding;
  return bytes;
}

/** Whether a packet on a port for both is RTCP (RFC 5761, section 4): its second byte is 192 to 223. */
export const isRtcp = (bytes: Uint8Array): boolean => bytes.length > 1 && bytes[1]! >= 192 && bytes[1]! <= 223;
