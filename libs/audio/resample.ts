import { saturate } from './level.js';
import { AUDIO_RATES } from './rates.js';

/** Zero crossings of the sinc on either side of its centre. */
const CROSSINGS = 32;
/** Pass band as a share of the lower rate's Nyquist frequency; the rest is for the slope of the filter. */
const PASS_BAND = 0.92;
/** Kaiser window with about 80 dB of attenuation. */
const KAISER_BETA = 8;

/**
 * Converts audio to another rate. A windowed sinc (Kaiser) as low-pass keeps frequencies above the new Nyquist frequency from
 * folding back. Time 0 stays time 0. The result has the length of the audio at the new rate, rounded.
 */
export function resample(pcm: Int16Array, from: number, to: number): Int16Array {
  const resampler = new StreamResampler(from, to);
  return join(resampler.push(pcm), resampler.flush());
}

/**
 * `resample` for audio that arrives in parts. However it was cut, the joined results of `push` and the last `flush` equal those
 * of `resample` to the sample.
 *
 * The filter looks ahead, so the next `push`, or `flush` at the end of the sound, returns the last `delay` samples. At equal
 * rates nothing is held back.
 */
export class StreamResampler {
  /** Maximum number of result samples held back: those of 32 samples at the lower rate, 4 ms at 8,000 Hz. */
  readonly delay: number;
  private readonly from: number;
  private readonly to: number;
  private readonly kernel: Kernel | null;
  /** End of the input that the filter needs for the next sample of the result. */
  private kept: Int16Array = NO_SOUND;
  /** Number of samples of the input and of the result so far. */
  private received = 0;
  private returned = 0;

  constructor(from: number, to: number) {
    this.from = from;
    this.to = to;
    this.kernel = from === to ? null : kernelOf(from, to);
    this.delay = this.kernel ? Math.ceil((this.kernel.half * to) / from) : 0;
  }

  /** @param pcm may be reused afterwards */
  push(pcm: Int16Array): Int16Array {
    if (!this.kernel) return pcm.slice();
    const { half, phases, step } = this.kernel;
    const input = join(this.kept, pcm);
    this.received += pcm.length;
    // Sample n of the result is at input position n * step / phases, and needs `half` samples of the input after it.
    const result = this.resultTo(Math.ceil(((this.received - half) * phases) / step), input, this.kernel);
    const needed = Math.max(0, Math.floor((this.returned * step) / phases) - half + 1);
    this.kept = input.slice(input.length - (this.received - needed));
    return result;
  }

  /** Returns the rest of the sound. The next `push` begins a new sound at time 0. */
  flush(): Int16Array {
    if (!this.kernel) return NO_SOUND;
    const result = this.resultTo(Math.round((this.received * this.to) / this.from), this.kept, this.kernel);
    this.kept = NO_SOUND;
    this.received = this.returned = 0;
    return result;
  }

  /** @param input ends with the last sample that was received */
  private resultTo(end: number, input: Int16Array, kernel: Kernel): Int16Array {
    const { phases, step } = kernel;
    const start = this.received - input.length;
    const result = new Int16Array(Math.max(0, end - this.returned));
    // A shortcut for silence, which is most of what a caller sends.
    const length = isSilent(input) ? 0 : result.length;
    for (let n = 0; n < length; n++) {
      const position = (this.returned + n) * step;
      const whole = Math.floor(position / phases);
      result[n] = saturate(kernel.apply(input, whole - start, position - whole * phases));
    }
    this.returned += result.length;
    return result;
  }
}

const NO_SOUND = new Int16Array(0);

const isSilent = (pcm: Int16Array): boolean => pcm.every((sample) => sample === 0);

function join(first: Int16Array, second: Int16Array): Int16Array {
  if (first.length === 0) return second;
  if (second.length === 0) return first;
  const joined = new Int16Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

/** Kernels between the rates of platforms only: files may have any rate, and the cache would grow without limit. */
const kernels = new Map<string, Kernel>();
const isCached = (rate: number): boolean => AUDIO_RATES.some((one) => one === rate);

function kernelOf(from: number, to: number): Kernel {
  const divisor = greatestCommonDivisor(from, to);
  const phases = to / divisor;
  const step = from / divisor;
  const key = `${step}/${phases}`;
  const kernel = kernels.get(key) ?? new Kernel(phases, step);
  if (isCached(from) && isCached(to)) kernels.set(key, kernel);
  return kernel;
}

/** Coefficients for each position of an output sample between two input samples. */
class Kernel {
  /** Number of input samples that count on either side. */
  readonly half: number;
  private readonly coefficients: Float64Array[];

  /** @param phases, step: numbers of result and input samples in the same time, as a reduced fraction */
  constructor(
    readonly phases: number,
    readonly step: number,
  ) {
    const stretch = Math.max(1, step / phases);
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

  /** @param stretch input samples for each output sample, at least 1 */
  private coefficientsOf(fraction: number, stretch: number): Float64Array {
    const coefficients = Float64Array.from({ length: 2 * this.half }, (_, k) => {
      const distance = k - this.half + 1 - fraction;
      return sinc((distance * PASS_BAND) / stretch) * kaiser(distance / this.half);
    });
    // Normalises each phase, so that a constant passes unchanged.
    const sum = coefficients.reduce((total, value) => total + value, 0);
    return coefficients.map((value) => value / sum);
  }
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** @param x -1 to 1 */
const kaiser = (x: number): number => (Math.abs(x) >= 1 ? 0 : bessel(KAISER_BETA * Math.sqrt(1 - x * x)) / KAISER_PEAK);

/** Modified Bessel function of the first kind and order 0, by its series. */
function bessel(x: number): number {
  let sum = 1;
  for (let term = 1, n = 1; term > sum * 1e-12; n++) {
    term *= (x / (2 * n)) ** 2;
    sum += term;
  }
  return sum;
}

const KAISER_PEAK = bessel(KAISER_BETA);

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));
