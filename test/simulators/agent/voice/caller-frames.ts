import { AudioDecoder, type AudioFormat, StreamResampler } from '../../../../libs/audio/index.js';
import { FRAME_SAMPLES, RATE } from './frames.js';

/** The caller's audio as the agent hears it, from parts of any length in one format. */
export class CallerFrames {
  private readonly decoder: AudioDecoder;
  private readonly resampler: StreamResampler | undefined;
  private samples = new Int16Array(0);

  constructor({ encoding, rate }: AudioFormat) {
    this.decoder = new AudioDecoder({ encoding });
    if (rate !== RATE) this.resampler = new StreamResampler(rate, RATE);
  }

  /** @param hear takes a frame that is complete, and the milliseconds that arrived after it */
  push(bytes: Uint8Array, hear: (frame: Int16Array, laterMs: number) => void): void {
    const pcm = this.decoder.push(bytes);
    const heard = this.resampler ? this.resampler.push(pcm) : pcm;
    const samples = new Int16Array(this.samples.length + heard.length);
    samples.set(this.samples);
    samples.set(heard, this.samples.length);
    let end = FRAME_SAMPLES;
    for (; end <= samples.length; end += FRAME_SAMPLES) {
      hear(samples.slice(end - FRAME_SAMPLES, end), ((samples.length - end) * 1_000) / RATE);
    }
    this.samples = samples.slice(end - FRAME_SAMPLES);
  }
}
