import { MULAW_SILENCE } from '../../audio/index.js';
import type { RecordingSink } from './media.js';
import { LINE_RATE } from './plan.js';

/** Sound and log are passed on about once a second. */
const BATCH_SAMPLES = LINE_RATE;
const MAX_LINES = 500;

/** Collects the two channels and the wire log of a call and passes them on in batches. */
export class Recorder {
  private stereo = new Uint8Array(BATCH_SAMPLES * 2);
  private filled = 0;
  private lines: string[] = [];

  constructor(private readonly sink: RecordingSink) {}

  /**
   * Appends the next samples of both channels; a channel that is shorter or missing is silent.
   * @param caller mu-law as sent @param agent mu-law as heard
   */
  audio(length: number, caller: Uint8Array | null, agent: Uint8Array | null): void {
    for (let index = 0; index < length; index++) {
      if (this.filled === this.stereo.length) this.flushAudio();
      this.stereo[this.filled++] = caller?.[index] ?? MULAW_SILENCE;
      this.stereo[this.filled++] = agent?.[index] ?? MULAW_SILENCE;
    }
  }

  /** @param atMs call time */
  wire(atMs: number, direction: 'sent' | 'received', message: unknown): void {
    this.lines.push(JSON.stringify({ atMs: Math.round(atMs * 1_000) / 1_000, direction, message }));
    if (this.lines.length >= MAX_LINES) this.flushLines();
  }

  /** Passes on what was collected. */
  flush(): void {
    this.flushAudio();
    this.flushLines();
  }

  private flushAudio(): void {
    if (this.filled === 0) return;
    // The sink may transfer the bytes to another thread, so they are not used again.
    this.sink.audio(this.filled === this.stereo.length ? this.stereo : this.stereo.slice(0, this.filled));
    this.stereo = new Uint8Array(BATCH_SAMPLES * 2);
    this.filled = 0;
    this.flushLines();
  }

  private flushLines(): void {
    if (this.lines.length === 0) return;
    this.sink.wire(this.lines);
    this.lines = [];
  }
}
