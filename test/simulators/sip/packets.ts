/** RTP (RFC 3550) and keys (RFC 4733), byte by byte, without a library. */
export interface Packet {
  readonly payloadType: number;
  readonly marker: boolean;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Uint8Array;
}

export function rtp({ payloadType, marker, sequence, timestamp, ssrc, payload }: Packet): Buffer {
  const head = Buffer.alloc(12);
  head[0] = 0x80;
  head[1] = (marker ? 0x80 : 0) | payloadType;
  head.writeUInt16BE(sequence & 0xffff, 2);
  head.writeUInt32BE(timestamp >>> 0, 4);
  head.writeUInt32BE(ssrc >>> 0, 8);
  return Buffer.concat([head, payload]);
}

/** Undefined for RTCP. */
export function readPacket(data: Uint8Array): Packet | undefined {
  const bytes = Buffer.from(data);
  if (bytes.length < 12 || (bytes[1]! >= 192 && bytes[1]! <= 223)) return undefined;
  return {
    payloadType: bytes[1]! & 0x7f,
    marker: bytes[1]! >= 0x80,
    sequence: bytes.readUInt16BE(2),
    timestamp: bytes.readUInt32BE(4),
    ssrc: bytes.readUInt32BE(8),
    payload: bytes.subarray(12),
  };
}

/** A receiver report without blocks. */
export const receiverReport = (ssrc: number): Buffer => {
  const bytes = Buffer.from([0x80, 201, 0, 1, 0, 0, 0, 0]);
  bytes.writeUInt32BE(ssrc, 4);
  return bytes;
};
