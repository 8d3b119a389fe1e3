import { FRAME_SAMPLES, RATE } from './frames.js';

/** Mel bands between 200 and 3,700 Hz: what a telephone passes. */
export const BANDS = 18;
const LOW_HZ = 200;
const HIGH_HZ = 3_700;
/** Samples of the Fourier transform: 32 ms, every 20 ms. */
const WINDOW = 256;
const BINS = WINDOW / 2;

/** Log energies in decibels of full scale, `BANDS` for each 20 ms. */
export type Features = Float32Array;

/** Computes the features of a sound. */
export function featuresOf(pcm: Int16Array): Features {
  const count = Math.max(0, Math.floor((pcm.length - WINDOW) / FRAME_SAMPLES) + 1);
  const features = new Float32Array(count * BANDS);
  const real = new Float64Array(WINDOW);
  const imaginary = new Float64Array(WINDOW);
  for (let frame = 0; frame < count; frame += 1) {
    for (let index = 0; index < WINDOW; index += 1) {
      real[index] = (pcm[frame * FRAME_SAMPLES + index]! / 32_768) * HANN[index]!;
    }
    imaginary.fill(0);
    fourierTransform(real, imaginary);
    for (let band = 0; band < BANDS; band += 1) {
      let energy = 1e-10;
      const { first, weights } = FILTERS[band]!;
      for (let index = 0; index < weights.length; index += 1) {
        const bin = first + index;
        energy += weights[index]! * (real[bin]! ** 2 + imaginary[bin]! ** 2);
      }
      features[frame * BANDS + band] = 10 * Math.log10(energy);
    }
  }
  return features;
}

const HANN = Float64Array.from({ length: WINDOW }, (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / (WINDOW - 1)));

const melOf = (hz: number): number => 2_595 * Math.log10(1 + hz / 700);
const hzOf = (mel: number): number => 700 * (10 ** (mel / 2_595) - 1);

interface Filter {
  readonly first: number;
  readonly weights: Float64Array;
}

/** Triangles of equal width on the mel scale, each normalised to the energy of one band. */
const FILTERS: readonly Filter[] = Array.from({ length: BANDS }, (_, band) => {
  const step = (melOf(HIGH_HZ) - melOf(LOW_HZ)) / (BANDS + 1);
  const edge = (number: number) => (hzOf(melOf(LOW_HZ) + step * number) * WINDOW) / RATE;
  const [from, peak, to] = [edge(band), edge(band + 1), edge(band + 2)];
  const first = Math.ceil(from);
  const weights = Float64Array.from(
    { length: Math.max(1, Math.min(BINS, Math.floor(to)) - first + 1) },
    (_unused, index) => {
      const bin = first + index;
      return Math.max(0.05, bin < peak ? (bin - from) / (peak - from) : (to - bin) / (to - peak));
    },
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return { first, weights: weights.map((weight) => weight / sum / WINDOW) };
});

/** Fast Fourier transform in place, radix 2. */
function fourierTransform(real: Float64Array, imaginary: Float64Array): void {
  for (let index = 0; index < WINDOW; index += 1) {
    const other = REVERSED[index]!;
    if (other > index) [real[index], real[other]] = [real[other]!, real[index]!];
  }
  for (let half = 1; half < WINDOW; half *= 2) {
    const stride = WINDOW / (2 * half);
    for (let start = 0; start < WINDOW; start += 2 * half) {
      for (let index = 0; index < half; index += 1) {
        const [cos, sin] = [COS[index * stride]!, -SIN[index * stride]!];
        const [low, high] = [start + index, start + index + half];
        const re = real[high]! * cos - imaginary[high]! * sin;
        const im = real[high]! * sin + imaginary[high]! * cos;
        real[high] = real[low]! - re;
        imaginary[high] = imaginary[low]! - im;
        real[low]! += re;
        imaginary[low]! += im;
      }
    }
  }
}

const COS = Float64Array.from({ length: WINDOW / 2 }, (_, n) => Math.cos((2 * Math.PI * n) / WINDOW));
const SIN = Float64Array.from({ length: WINDOW / 2 }, (_, n) => Math.sin((2 * Math.PI * n) / WINDOW));
const REVERSED = Uint16Array.from({ length: WINDOW }, (_, n) => {
  let reversed = 0;
  for (let bit = 1; bit < WINDOW; bit *= 2) reversed = reversed * 2 + (n & bit ? 1 : 0);
  return reversed;
});
