import { READ_LIMITS, ReadCount } from '../../other-side/read-limits.js';

/** Frames in a part of a connection's bytes. */
export interface CountedFrames {
  readonly messages: number;
  readonly control: number;
  readonly continuation: number;
  /** What of its limit a message of text exceeds, though it may not have arrived as a whole. */
  readonly tooLarge?: string;
}

/** Bytes of the extended length and of the mask, by the second byte of a frame (RFC 6455, section 5.2). */
const headerLeft = (second: number): number =>
  ((second & 0x7f) === 127 ? 8 : (second & 0x7f) === 126 ? 2 : 0) + (second & 0x80 ? 4 : 0);

/**
 * Counts the WebSocket frames in the bytes of a connection as they arrive, in parts of any length. `ws` reports neither the
 * parts of a message nor, before their turn, how many messages wait; and what a message costs to read must be known before. It trusts nothing: `ws` refuses what is not a frame.
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
  /** Of the present message, if it is text: no wire parses bytes. */
  private text: ReadCount | undefined;
  private isControl = false;

  push(bytes: Uint8Array): CountedFrames {
    const counts = { messages: 0, control: 0, continuation: 0 };
    let tooLarge: string | undefined;
    for (let at = 0; at < bytes.length;) {
      if (this.payload > 0) {
        const part = bytes.subarray(at, at + this.payload);
        if (!this.isControl) tooLarge ??= this.text?.push(part);
        this.payload -= part.length;
        at += part.length;
        continue;
      }
      this.readHeader(bytes[at++]!);
      if (this.second === undefined || this.header > 0) continue;
      const opcode = this.first! & 0x0f;
      this.isControl = opcode >= 0x8;
      counts[this.isControl ? 'control' : opcode === 0 ? 'continuation' : 'messages']++;
      if (opcode === 1) this.text = new ReadCount(READ_LIMITS.message);
      else if (opcode === 2) this.text = undefined;
      this.payload = this.length;
      this.first = this.second = undefined;
    }
    return tooLarge === undefined ? counts : { ...counts, tooLarge };
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
