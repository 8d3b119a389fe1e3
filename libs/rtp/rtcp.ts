import { bufferOf, type Refused } from './packet.js';

/** What a receiver says about a source (RFC 3550, section 6.4.1). */
export interface ReportBlock {
  readonly ssrc: number;
  /** Share of packets lost since the last report, in 1/256. */
  readonly fractionLost: number;
  /** Packets lost since the beginning; duplicates can make it negative. */
  readonly lost: number;
  readonly highestSequence: number;
  /** In ticks of the RTP clock. */
  readonly jitter: number;
  /** Middle 32 bits of the time in the last sender report, 0 if there was none. */
  readonly lastReport: number;
  /** Time since that report, in 1/65,536 s. */
  readonly delay: number;
}

/** Time of a sender report and what was sent until then. */
export interface SenderInfo {
  /** 64 bits: seconds and 2^-32 seconds. */
  readonly ntp: bigint;
  readonly timestamp: number;
  readonly packets: number;
  readonly octets: number;
}

export type RtcpPacket =
  | {
      readonly type: 'report';
      readonly ssrc: number;
      readonly sender?: SenderInfo;
      readonly blocks: readonly ReportBlock[];
    }
  | { readonly type: 'description'; readonly ssrc: number; readonly cname: string }
  | { readonly type: 'bye'; readonly ssrcs: readonly number[]; readonly reason?: string }
  | { readonly type: 'other'; readonly payloadType: number };

export type RtcpRefusal = 'too_short' | 'too_long' | 'wrong_version' | 'truncated_packet' | 'wrong_padding';

const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const DESCRIPTION = 202;
const BYE = 203;
const CNAME = 1;
const BLOCK = 24;
const LARGEST = 1_500;

/** Reads a compound packet (RFC 3550, section 6.1). One without a leading report is read as well (RFC 5506). */
export function readRtcp(bytes: Uint8Array): readonly RtcpPacket[] | Refused<RtcpRefusal> {
  if (bytes.length < 4) return { refusal: 'too_short' };
  if (bytes.length > LARGEST) return { refusal: 'too_long' };
  const packets: RtcpPacket[] = [];
  let rest = bufferOf(bytes);
  while (rest.length > 0) {
    if (rest.length < 4) return { refusal: 'truncated_packet' };
    if (rest[0]! >> 6 !== 2) return { refusal: 'wrong_version' };
    const length = 4 * (rest.readUInt16BE(2) + 1);
    if (length > rest.length) return { refusal: 'truncated_packet' };
    const padding = rest[0]! & 0x20 ? rest[length - 1]! : 0;
    if (rest[0]! & 0x20 && (padding === 0 || padding > length - 4)) return { refusal: 'wrong_padding' };
    const packet = readOne(rest[1]!, rest[0]! & 0x1f, rest.subarray(4, length - padding));
    if (!packet) return { refusal: 'truncated_packet' };
    packets.push(packet);
    rest = rest.subarray(length);
  }
  return packets;
}

function readOne(payloadType: number, count: number, body: Buffer): RtcpPacket | undefined {
  switch (payloadType) {
    case SENDER_REPORT:
    case RECEIVER_REPORT: {
      const info = payloadType === SENDER_REPORT ? 24 : 4;
      if (body.length < info + BLOCK * count) return undefined;
      const blocks = Array.from({ length: count }, (_, n) => readBlock(body.subarray(info + BLOCK * n)));
      const ssrc = body.readUInt32BE(0);
      if (payloadType === RECEIVER_REPORT) return { type: 'report', ssrc, blocks };
      const [timestamp, packets, octets] = [12, 16, 20].map((at) => body.readUInt32BE(at)) as [number, number, number];
      return { type: 'report', ssrc, sender: { ntp: body.readBigUInt64BE(4), timestamp, packets, octets }, blocks };
    }
    case DESCRIPTION: {
      const isCname = count > 0 && body.length >= 6 && body[4] === CNAME && 6 + body[5]! <= body.length;
      if (!isCname) return { type: 'other', payloadType };
      return { type: 'description', ssrc: body.readUInt32BE(0), cname: body.toString('utf8', 6, 6 + body[5]!) };
    }
    case BYE: {
      if (body.length < 4 * count) return undefined;
      const ssrcs = Array.from({ length: count }, (_, n) => body.readUInt32BE(4 * n));
      const from = 4 * count + 1;
      return {
        type: 'bye',
        ssrcs,
        ...(body.length > from && { reason: body.toString('utf8', from, from + body[from - 1]!) }),
      };
    }
    default:
      return { type: 'other', payloadType };
  }
}

const readBlock = (bytes: Buffer): ReportBlock => ({
  ssrc: bytes.readUInt32BE(0),
  fractionLost: bytes[4]!,
  lost: bytes.readIntBE(5, 3),
  highestSequence: bytes.readUInt32BE(8),
  jitter: bytes.readUInt32BE(12),
  lastReport: bytes.readUInt32BE(16),
  delay: bytes.readUInt32BE(20),
});

/** Writes a compound packet. Of a description and a BYE at most 255 bytes of text are sent. */
export function writeRtcp(packets: readonly Exclude<RtcpPacket, { type: 'other' }>[]): Buffer {
  return Buffer.concat(packets.map(writeOne));
}

function writeOne(packet: Exclude<RtcpPacket, { type: 'other' }>): Buffer {
  switch (packet.type) {
    case 'report': {
      const { ssrc, sender, blocks } = packet;
      const info = Buffer.alloc(sender ? 24 : 4);
      info.writeUInt32BE(ssrc, 0);
      if (sender) {
        info.writeBigUInt64BE(sender.ntp, 4);
        [sender.timestamp, sender.packets, sender.octets].forEach((value, n) =>
          info.writeUInt32BE(value >>> 0, 12 + 4 * n),
        );
      }
      const body = Buffer.concat([info, ...blocks.map(writeBlock)]);
      return withHeader(sender ? SENDER_REPORT : RECEIVER_REPORT, blocks.length, body);
    }
    case 'description':
      return withHeader(
        DESCRIPTION,
        1,
        Buffer.concat([words(packet.ssrc), Buffer.of(CNAME), text(packet.cname), Buffer.of(0)]),
      );
    case 'bye': {
      const reason = packet.reason === undefined ? Buffer.alloc(0) : text(packet.reason);
      return withHeader(BYE, packet.ssrcs.length, Buffer.concat([words(...packet.ssrcs), reason]));
    }
  }
}

function writeBlock({ ssrc, fractionLost, lost, highestSequence, jitter, lastReport, delay }: ReportBlock): Buffer {
  const bytes = words(ssrc, 0, highestSequence, jitter, lastReport, delay);
  bytes[4] = fractionLost;
  bytes.writeIntBE(lost, 5, 3);
  return bytes;
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, n) => bytes.writeUInt32BE(value >>> 0, 4 * n));
  return bytes;
}

/** Text with its length in one byte. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value).subarray(0, 255);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

/** Adds the header, and zeros up to a multiple of four bytes. */
function withHeader(payloadType: number, count: number, body: Buffer): Buffer {
  const bytes = Buffer.alloc(4 + 4 * Math.ceil(body.length / 4));
  bytes[0] = 0x80 | count;
  bytes[1] = payloadType;
  bytes.writeUInt16BE(bytes.length / 4 - 1, 2);
  bytes.set(body, 4);
  return bytes;
}
