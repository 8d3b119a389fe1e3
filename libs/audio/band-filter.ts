/** Quality factors of the two sections of a Butterworth filter of order 4. */
const BUTTERWORTH_4 = [0.541_196_1, 1.306_563];

/** Normalised coefficients of a second-order section. */
interface Section {
  readonly b0: number;
  readonly b1: number;
  readonly b2: number;
  readonly a1: number;
  readonly a2: number;
}

/**
 * The band of the analogue telephone, frame by frame: Butterworth filters of order 4, 3 dB down at 300 and 3,400 Hz
 * (bilinear transform; R. Bristow-Johnson, "Audio EQ Cookbook").
 */
export class TelephoneBandFilter {
  private readonly sections: readonly Section[];
  /** Two values per section. */
  private readonly state: Float64Array;

  constructor(rate: number) {
    this.sections = BUTTERWORTH_4.flatMap((q) => [section('high', 300, q, rate), section('low', 3_400, q, rate)]);
    this.state = new Float64Array(2 * this.sections.length);
  }

  /** Filters a frame of any length in place. */
  apply(frame: Float64Array): void {
    this.sections.forEach(({ b0, b1, b2, a1, a2 }, k) => {
      let first = this.state[2 * k]!;
      let second = this.state[2 * k + 1]!;
      for (let n = 0; n < frame.length; n++) {
        const input = frame[n]!;
        const output = b0 * input + first;
        first = b1 * input - a1 * output + second;
        second = b2 * input - a2 * output;
        frame[n] = output;
      }
      this.state[2 * k] = first;
      this.state[2 * k + 1] = second;
    });
  }
}

function section(pass: 'high' | 'low', hz: number, q: number, rate: number): Section {
  const angle = (2 * Math.PI * hz) / rate;
  const cosine = Math.cos(angle);
  const alpha = Math.sin(angle) / (2 * q);
  const edge = pass === 'low' ? 1 - cosine : 1 + cosine;
  const a0 = 1 + alpha;
  return {
    b0: edge / 2 / a0,
    b1: (pass === 'low' ? edge : -edge) / a0,
    b2: edge / 2 / a0,
    a1: (-2 * cosine) / a0,
    a2: (1 - alpha) / a0,
  };
}
