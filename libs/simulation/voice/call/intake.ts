import { type AudioFormat, bytesPerSecond } from '../../../audio/index.js';
import { SEND_LIMITS } from '../../other-side/send-limits.js';
import { SendBudget, type SentKind } from './send-budget.js';

/** What a pending mark, or a message that waits, keeps beside its text. */
const MARK_BYTES = 128;
const EARLY_BYTES = 64;
const KEPT_TOO_MUCH = `more than ${SEND_LIMITS.memoryBytes / 1024 / 1024} MiB of it waited to be played or logged`;

/**
 * What the agent sends, counted against `SEND_LIMITS`: each message is charged by what the wire did because of it, so that a
 * wire need not know the limits.
 */
export class Intake {
  private readonly budget = new SendBudget();
  private samples = 0;
  private kind: SentKind = 'other';
  private messageBytes = 0;
  private readonly early: (string | Uint8Array)[] = [];
  private earlyBytes = 0;
  /** Bytes of the marks that wait for their audio. */
  private markBytes = 0;

  /** @param format of the agent's audio */
  constructor(public format: AudioFormat) {}

  /** What was exceeded, in a few words; undefined: nothing. @param keptBytes of the whole call */
  tooMuch(keptBytes: number): string | undefined {
    return this.budget.exceeded ?? (keptBytes > SEND_LIMITS.memoryBytes ? KEPT_TOO_MUCH : undefined);
  }

  /** Bytes that are kept because of messages that wait. */
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

  /** @param callMs time of the call so far @param handle lets the wire handle the message */
  message(now: number, data: string | Uint8Array, callMs: number, handle: () => void): void {
    this.samples = 0;
    this.kind = 'other';
    this.messageBytes = typeof data === 'string' ? Buffer.byteLength(data) : data.length;
    this.budget.receive(this.messageBytes, bytesPerSecond(this.format), callMs);
    handle();
    const isFree = this.samples * 1_000 >= SEND_LIMITS.freeAudioMs * this.format.rate;
    if (!isFree) this.budget.take(now, this.samples > 0 ? 'shortAudio' : this.kind);
  }

  /** Frames beside the messages. */
  frames(now: number, kind: 'control' | 'continuation', count: number): void {
    if (count > 0) this.budget.take(now, kind, count);
  }

  /** The present message has new audio. */
  heard(samples: number): void {
    this.samples += samples;
  }

  /** What the present message is if it has no audio. */
  was(kind: SentKind): void {
    this.kind = kind;
  }

  /** Counts what a mark keeps until it is played. @param wait takes the callback that ends it */
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
