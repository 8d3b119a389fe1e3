import { SEND_LIMITS } from '../../other-side/send-limits.js';

/** Units that the bucket counts, as the failure names them: singular and plural. */
const KINDS = {
  mark: ['mark', 'marks'],
  clear: ['clear', 'clears'],
  shortAudio: ['message with less than 5 ms of audio', 'messages with less than 5 ms of audio'],
  ignored: ['message that the platform ignores', 'messages that the platform ignores'],
  other: ['other message without new audio', 'other messages without new audio'],
  control: ['control frame', 'control frames'],
  continuation: ['continuation frame', 'continuation frames'],
} as const;

export type SentKind = keyof typeof KINDS;

/**
 * Counts what an agent sends against `SEND_LIMITS`. Times are milliseconds on one clock. A time before the latest one counts
 * as the latest.
 */
export class SendBudget {
  private left: number = SEND_LIMITS.bucket.size;
  private filledAt: number | undefined;
  private bytes = 0;
  private readonly counts = new Map<SentKind, number>();
  private excess: string | undefined;

  /** The exceeded limit in a few words; undefined if there is none. */
  get exceeded(): string | undefined {
    return this.excess;
  }

  /** Takes from the bucket. */
  take(now: number, kind: SentKind, count = 1): void {
    const { size, perSecond } = SEND_LIMITS.bucket;
    const passedMs = Math.max(0, now - (this.filledAt ?? now));
    this.filledAt = Math.max(now, this.filledAt ?? now);
    this.left = Math.min(size, this.left + (passedMs * perSecond) / 1_000) - count;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + count);
    if (this.left < 0) this.excess ??= this.described();
  }

  /** @param lineBytesPerSecond of the wire's audio format @param callMs length of the call so far */
  receive(bytes: number, lineBytesPerSecond: number, callMs: number): void {
    const { factor, aheadSeconds, extra } = SEND_LIMITS.bytes;
    this.bytes += bytes;
    const allowed = factor * lineBytesPerSecond * (Math.max(0, callMs) / 1_000 + aheadSeconds) + extra;
    if (this.bytes > allowed) {
      this.excess ??= `${grouped(this.bytes)} bytes, where ${grouped(Math.floor(allowed))} were allowed by then`;
    }
  }

  private described(): string {
    const counts = [...this.counts].sort(([, a], [, b]) => b - a);
    const shown = counts.map(([kind, count]) => `${grouped(count)} ${KINDS[kind][count === 1 ? 0 : 1]}`);
    return `${shown.join(', ')}, which is too many at once`;
  }
}

const grouped = (count: number): string => count.toLocaleString('en');
