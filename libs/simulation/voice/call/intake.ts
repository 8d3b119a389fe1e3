import { type AudioFormat, bytesPerSecond } from '../../../audio/index.js';
import { SEND_LIMITS } from '../../other-side/send-limits.js';
import { SendBudget, type SentKind } from './send-budget.js';

/** Memory of a pending mark or of a waiting message, beside its text. */
const MARK_BYTES = 128;
const EARLY_BYTES = 64;
const KEPT_TOO_MUCH = `more than ${SEND_LIMITS.memoryBytes / 1024 / 1024} MiB of it waited to be played or logged`;

/**
 * Counts what the agent sends against `SEND_LIMITS`. It charges each message by how the wire reacted, so wires need not know the
 * limits.
 */
export class Intake {
  private readonly budget = new SendBudget();
  private samples = 0;
  private kind: SentKind = 'other';
  private messageBytes = 0;
  private readonly early: (string | Uint8Array)[] = [];
  private earlyBytes = 0;
  /** Bytes of the pending marks. */
  private markBytes = 0;

  /** @param format of the agent's audio */
  constructor(public format: AudioFormat) {}

  /** The exceeded limit in a few words; undefined if there is none. @param keptBytes memory of the whole call */
  tooMuch(keptBytes: number): string | undefined {
    return this.budget.exceeded ?? (keptBytes > SEND_LIMITS.memoryBytes ? KEPT_TOO_MUCH : undefined);
  }

  /** Bytes of the waiting messages. */
  get bytes(): number {
    return this.markBytes + this.earlyBytes;
  }

  /** Keeps a message that arrived before the connection was reported open. */
  keepEarly(data: string | Uint8Array): void {
    this.early.push(data);
    this.earlyBytes += EARLY_BYTES + data.length;
  }

  takeEarly(): (string | Uint8Array)[] {
    this.earlyBytes = 0;
    return this.early.splice(0);
  }

  /** @param callMs length of the call so far @param handle lets the wire handle the message */
  message(now: number, data: string | Uint8Array, callMs: number, handle: () => void): void {
    this.samples = 0;
    this.kind = 'other';
    this.messageBytes = typeof data === 'string' ? Buffer.byteLength(data) : data.length;
    this.budget.receive(this.messageBytes, bytesPerSecond(this.format), callMs);
    handle();
    const isFree = this.samples * 1_000 >= SEND_LIMITS.freeAudioMs * this.format.rate;
    if (!isFree) this.budget.take(now, this.samples > 0 ? 'shortAudio' : this.kind);
  }

  /** Counts frames that carry no message. */
  frames(now: number, kind: 'control' | 'continuation', count: number): void {
    if (count > 0) this.budget.take(now, kind, count);
  }

  /** Marks the present message as one with new audio. */
  heard(samples: number): void {
    this.samples += samples;
  }

  /** Sets the kind of the present message, unless it has audio. */
  was(kind: SentKind): void {
    this.kind = kind;
  }

  /** Counts the memory of a mark until it is played. @param wait receives the callback for that */
  mark(wait: (onPlayed: (playedMs: number) => void) => void, onPlayed: (playedMs: number) => void): void {
    const bytes = MARK_BYTES + this.messageBytes;
    this.was('mark');
    this.markBytes += bytes;
    wait((playedMs) => {
      this.markBytes -= bytes;
      onPlayed(playedMs);
    });
  }
}
