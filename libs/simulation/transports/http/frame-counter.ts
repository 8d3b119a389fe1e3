/** Frames in a part of a connection's bytes. */
export interface CountedFrames {
  readonly messages: number;
  readonly control: number;
  readonly continuation: number;
}

/** Bytes of the extended length and of the mask, by the second byte of a frame (RFC 6455, section 5.2). */
const headerLeft = (second: number): number =>
  ((second & 0x7f) === 127 ? 8 : (second & 0x7f) === 126 ? 2 : 0) + (second & 0x80 ? 4 : 0);

/**
 * Counts the WebSocket frames in the bytes of a connection as they arrive, in parts of any length. `ws` reports neither the
 * parts of a message nor, before their turn, how many messages wait. It trusts nothing: `ws` refuses what is not a frame.
 */
export class FrameCounter {
  private first: number | undefined;
  private second: number | undefined;
  private length = 0;
  /** Bytes of the header that have not arrived. */
  private header = 0;
  /** Bytes of the extended length among them. */
  private lengthBytes = 0;
  private payload = 0;

  push(bytes: Uint8Array): CountedFrames {
    const counts = { messages: 0, control: 0, continuation: 0 };
    for (let at = 0; at < bytes.length;) {
      if (this.payload > 0) {
        const skipped = Math.min(this.payload, bytes.length - at);
        this.payload -= skipped;
        at += skipped;
        continue;
      }
      this.readHeader(bytes[at++]!);
      if (this.second === undefined || this.header > 0) continue;
      const opcode = this.first! & 0x0f;
      counts[opcode >= 0x8 ? 'control' : opcode === 0 ? 'continuation' : 'messages']++;
      this.payload = this.length;
      this.first = this.second = undefined;
    }
    return counts;
  }

  private readHeader(byte: number): void {
    if (this.first === undefined) {
      this.first = byte;
    } else if (this.second === undefined) {
      this.second = byte;
      this.header = headerLeft(byte);
      this.lengthBytes = this.header - (byte & 0x80 ? 4 : 0);
      this.length = this.lengthBytes > 0 ? 0 : byte & 0x7f;
    } else {
      this.header--;
      if (this.lengthBytes === 0) return;
      this.lengthBytes--;
      this.length = this.length * 256 + byte;
    }
  }
}
