import { AudioDecoder, type AudioFormat, StreamResampler } from '../../audio/index.js';
import { FRAME_SAMPLES, RATE } from './frames.js';

/** The caller's audio as the agent hears it, from parts of any length in one format. */
export class CallerFrames {
  private readonly decoder: AudioDecoder;
  private readonly resampler: StreamResampler | undefined;
  private samples: number[] = [];

  constructor({ encoding, rate }: AudioFormat) {
    this.decoder = new AudioDecoder({ encoding });
    if (rate !== RATE) this.resampler = new StreamResampler(rate, RATE);
  }

  /** @param hear takes a frame that is complete, and the milliseconds that arrived after it */
  push(bytes: Uint8Array, hear: (frame: Int16Array, laterMs: number) => void): void {
    const pcm = this.decoder.push(bytes);
    for (const sample of this.resampler ? this.resampler.push(pcm) : pcm) this.samples.push(sample);
    while (this.samples.length >= FRAME_SAMPLES) {
      const frame = Int16Array.from(this.samples.splice(0, FRAME_SAMPLES));
      hear(frame, (this.samples.length * 1_000) / RATE);
    }
  }
}
