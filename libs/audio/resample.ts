import { saturate } from './level.js';

/** Zero crossings of the sinc on either side of its centre. */
const CROSSINGS = 32;
/** Pass band as a share of the lower rate's Nyquist frequency; the rest is for the slope of the filter. */
const PASS_BAND = 0.92;
/** Kaiser window with about 80 dB of attenuation. */
const KAISER_BETA = 8;

/**
 * Converts sound to another rate with a windowed sinc (Kaiser) as low-pass, so that nothing above the new Nyquist frequency
 * folds back. Time 0 stays time 0. The result has the length of the sound at the new rate, rounded.
 */
export function resample(pcm: Int16Array, from: number, to: number): Int16Array {
  if (from === to) return pcm.slice();
  const divisor = greatestCommonDivisor(from, to);
  const phases = to / divisor;
  const step = from / divisor;
  const kernel = new Kernel(phases, Math.max(1, from / to));
  const output = new Int16Array(Math.round((pcm.length * to) / from));
  // Output n is at input position n * step / phases.
  for (let n = 0; n < output.length; n++) {
    const position = n * step;
    const whole = Math.floor(position / phases);
    output[n] = saturate(kernel.apply(pcm, whole, position - whole * phases));
  }
  return output;
}

/** Coefficients for each position of an output sample between two input samples. */
class Kernel {
  private readonly half: number;
  private readonly coefficients: Float64Array[];

  /** @param stretch input samples for each output sample, at least 1 */
  constructor(phases: number, stretch: number) {
    this.half = Math.ceil(CROSSINGS * stretch);
    this.coefficients = Array.from({ length: phases }, (_, phase) => this.coefficientsOf(phase / phases, stretch));
  }

  apply(pcm: Int16Array, whole: number, phase: number): number {
    const coefficients = this.coefficients[phase]!;
    const first = whole - this.half + 1;
    const start = Math.max(0, -first);
    const end = Math.min(coefficients.length, pcm.length - first);
    let sum = 0;
    for (let k = start; k < end; k++) sum += coefficients[k]! * pcm[first + k]!;
    return sum;
  }

  private coefficientsOf(fraction: number, stretch: number): Float64Array {
    const coefficients = Float64Array.from({ length: 2 * this.half }, (_, k) => {
      const distance = k - this.half + 1 - fraction;
      return sinc((distance * PASS_BAND) / stretch) * kaiser(distance / this.half);
    });
    // Each phase passes a constant unchanged.
    const sum = coefficients.reduce((total, value) => total + value, 0);
    return coefficients.map((value) => value / sum);
  }
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** @param x -1 to 1 */
const kaiser = (x: number): number =>
  Math.abs(x) >= 1 ? 0 : bessel(KAISER_BETA * Math.sqrt(1 - x * x)) / bessel(KAISER_BETA);

/** Modified Bessel function of the first kind and order 0, by its series. */
function bessel(x: number): number {
  let sum = 1;
  for (let term = 1, n = 1; term > sum * 1e-12; n++) {
    term *= (x / (2 * n)) ** 2;
    sum += term;
  }
  return sum;
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));
