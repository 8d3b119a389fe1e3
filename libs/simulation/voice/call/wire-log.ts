import { SEND_LIMITS } from '../../other-side/send-limits.js';

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
/** Memory of a line beside its text. */
const LINE_BYTES = 64;

interface Line {
  readonly atMs: number;
  readonly text: string;
}

/**
 * Chooses the lines of a wire log: all of them up to the limits, then one line a second about omitted messages, and the last
 * messages. Lines wait until they are taken.
 */
export class WireLog {
  private lines: string[] = [];
  private waitingBytes = 0;
  private minute = -1;
  private minuteBytes = 0;
  private totalBytes = 0;
  /** Ring of the last messages beyond the limits; `oldest` is the first. */
  private last: Line[] = [];
  private oldest = 0;
  private lastBytes = 0;
  private omitted: { readonly second: number; messages: number; bytes: number; readonly fromMs: number } | undefined;

  /** Memory use in bytes. */
  get bytes(): number {
    return this.waitingBytes + this.lastBytes;
  }

  /** Number of waiting lines. */
  get length(): number {
    return this.lines.length;
  }

  add(atMs: number, text: string): void {
    const minute = Math.floor(atMs / MINUTE_MS);
    if (minute > this.minute) {
      this.minute = minute;
      this.minuteBytes = 0;
      // The new minute has room: messages that still wait are written first.
      if (this.totalBytes + this.lastBytes <= SEND_LIMITS.wireLog.bytes) this.writeLast();
    }
    const bytes = text.length + 1;
    const { bytesPerMinute, bytes: allBytes } = SEND_LIMITS.wireLog;
    const fits = this.minuteBytes + bytes <= bytesPerMinute && this.totalBytes + bytes <= allBytes;
    if (fits && this.last.length === this.oldest) this.write(text);
    else this.keep({ atMs, text });
  }

  /** Takes the waiting lines. @param isEnd whether these are the last ones */
  take(isEnd: boolean): string[] {
    if (isEnd) this.writeLast();
    const { lines } = this;
    this.lines = [];
    this.waitingBytes = 0;
    return lines;
  }

  private write(text: string): void {
    const bytes = text.length + 1;
    this.minuteBytes += bytes;
    this.totalBytes += bytes;
    this.waitingBytes += bytes + LINE_BYTES;
    this.lines.push(text);
  }

  private keep(line: Line): void {
    this.last.push(line);
    this.lastBytes += line.text.length + LINE_BYTES;
    if (this.last.length - this.oldest <= SEND_LIMITS.wireLog.lastMessages) return;
    this.omit(this.last[this.oldest]!);
    this.oldest++;
    // In batches, since removing from the front of a long array costs its length.
    if (this.oldest < SEND_LIMITS.wireLog.lastMessages) return;
    this.last = this.last.slice(this.oldest);
    this.oldest = 0;
  }

  private omit({ atMs, text }: Line): void {
    this.lastBytes -= text.length + LINE_BYTES;
    const second = Math.floor(atMs / SECOND_MS);
    if (this.omitted && second > this.omitted.second) this.writeOmitted();
    this.omitted ??= { second, messages: 0, bytes: 0, fromMs: atMs };
    this.omitted.messages++;
    this.omitted.bytes += text.length + 1;
  }

  private writeOmitted(): void {
    if (!this.omitted) return;
    const { messages, bytes, fromMs } = this.omitted;
    this.omitted = undefined;
    const text = JSON.stringify({ omitted: { messages, bytes, fromMs: Math.round(fromMs * 1_000) / 1_000 } });
    this.waitingBytes += text.length + LINE_BYTES;
    this.lines.push(text);
  }

  private writeLast(): void {
    this.writeOmitted();
    for (const { text } of this.last.slice(this.oldest)) this.write(text);
    this.last = [];
    this.oldest = 0;
    this.lastBytes = 0;
  }
}
