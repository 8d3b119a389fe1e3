import { FRAME_MS, type LineRate } from '../../../audio/index.js';

/** Times and samples of a line. */
export class Line {
  readonly frameSamples: number;
  private readonly samplesPerMs: number;

  constructor(readonly rate: LineRate) {
    this.samplesPerMs = rate / 1_000;
    this.frameSamples = FRAME_MS * this.samplesPerMs;
  }

  /** The number of samples that is nearest to a duration. */
  samplesOf(ms: number): number {
    return Math.round(ms * this.samplesPerMs);
  }

  msOf(samples: number): number {
    return samples / this.samplesPerMs;
  }

  /** A moment on the grid of samples, so that clocks with fractions lead to exact times. */
  onSample(ms: number): number {
    return this.msOf(this.samplesOf(ms));
  }
}
