import { encodeAudio, type WavFormat } from '../../../audio/index.js';
import type { Line } from '../facts/line.js';
import { recordingFormat } from '../facts/recording-format.js';
import type { RecordingSink } from '../wire/voice-transport.js';

const MAX_LINES = 500;

/** Collects the two channels and the wire log of a call and passes them on in batches. */
export class Recorder {
  /** Audio and log are passed on about once a second. */
  private readonly stereo: Int16Array;
  private readonly format: WavFormat;
  private filled = 0;
  private lines: string[] = [];

  constructor(
    private readonly sink: RecordingSink,
    { rate }: Line,
  ) {
    this.format = recordingFormat(rate);
    this.stereo = new Int16Array(rate * this.format.channels);
  }

  /**
   * Appends the next samples of both channels; a channel that is shorter or missing is silent.
   * @param caller as sent @param agent as heard
   */
  audio(length: number, caller: Int16Array | null, agent: Int16Array): void {
    for (let index = 0; index < length; index++) {
      if (this.filled === this.stereo.length) this.flushAudio();
      this.stereo[this.filled++] = caller?.[index] ?? 0;
      this.stereo[this.filled++] = agent[index] ?? 0;
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
    // New bytes, since the sink may transfer them to another thread.
    this.sink.audio(encodeAudio(this.format, this.stereo.subarray(0, this.filled)));
    this.filled = 0;
    this.flushLines();
  }

  private flushLines(): void {
    if (this.lines.length === 0) return;
    this.sink.wire(this.lines);
    this.lines = [];
  }
}
