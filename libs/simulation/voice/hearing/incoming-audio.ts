import { FRAME_MS, StreamResampler } from '../../../audio/index.js';
import type { Line } from '../facts/line.js';
import type { Ear } from './ear.js';

/** Converts the agent's audio to the rate of the line, on its way to the playout buffer. */
export class IncomingAudio {
  private resampler: StreamResampler | undefined;
  private item: number | undefined;
  /** The filter holds the last samples of the present item back. */
  private hasTail = false;

  constructor(
    private readonly ear: Ear,
    private readonly line: Line,
    /** Samples per second of the platform. */
    private readonly rate: number,
  ) {}

  play(atMs: number, pcm: Int16Array, item?: number): void {
    if (this.rate === this.line.rate) return this.ear.play(atMs, pcm, item);
    if (this.hasTail && item !== this.item) this.flush(atMs);
    this.item = item;
    if (!this.resampler) {
      this.resampler = new StreamResampler(this.rate, this.line.rate);
      // Silence replaces the samples that the filter holds back, so audio paced in real time has no gap after its first part.
      this.ear.play(atMs, new Int16Array(this.resampler.delay), item);
    }
    this.hasTail = true;
    this.ear.play(atMs, this.resampler.push(pcm), item);
  }

  /** Plays what the filter holds back when the buffer is about to run empty. */
  advance(atMs: number): void {
    if (this.hasTail && this.ear.bufferedMs(atMs) < FRAME_MS) this.flush(atMs);
  }

  clear(atMs: number, upTo?: number): number {
    if (this.hasTail && (upTo === undefined || (this.item !== undefined && this.item <= upTo))) this.reset();
    return this.ear.clear(atMs, upTo);
  }

  private flush(atMs: number): void {
    this.ear.play(atMs, this.resampler!.flush(), this.item);
    this.reset();
  }

  private reset(): void {
    this.resampler = undefined;
    this.hasTail = false;
  }
}
