/** Levels of sound in bands of frequency. */
export interface Features {
  /** Number of frames. */
  readonly length: number;
  /** Those of the bands of each frame, one frame after the other. */
  readonly levels: Float32Array;
  /** Sum of the levels of each frame, and of their squares. */
  readonly sums: Float64Array;
  readonly squares: Float64Array;
}

const RATE = 8_000;
const FRAME = 200;
const HOP = 80;
const BANDS = 20;
const FREQUENCIES = Array.from({ length: BANDS }, (_, n) => 200 * (3_400 / 200) ** (n / (BANDS - 1)));
/** Power below which a band is silent. */
const FLOOR = 100;

const WINDOW = Float64Array.from({ length: FRAME }, (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / FRAME));
const WAVES = FREQUENCIES.map((hz) => ({
  cos: WINDOW.map((weight, n) => weight * Math.cos((2 * Math.PI * hz * n) / RATE)),
  sin: WINDOW.map((weight, n) => weight * Math.sin((2 * Math.PI * hz * n) / RATE)),
}));

/** @param pcm at 8,000 Hz */
export function featuresOf(pcm: Int16Array): Features {
  const length = Math.max(0, Math.floor((pcm.length - FRAME) / HOP) + 1);
  const levels = new Float32Array(length * BANDS);
  const [sums, squares] = [new Float64Array(length), new Float64Array(length)];
  for (let frame = 0; frame < length; frame++) {
    for (const [band, { cos, sin }] of WAVES.entries()) {
      let re = 0;
      let im = 0;
      for (let n = 0; n < FRAME; n++) {
        const sample = pcm[frame * HOP + n]!;
        re += sample * cos[n]!;
        im += sample * sin[n]!;
      }
      levels[frame * BANDS + band] = Math.log(FLOOR ** 2 + (re * re + im * im) / FRAME);
    }
    const ofFrame = levels.subarray(frame * BANDS, (frame + 1) * BANDS);
    sums[frame] = ofFrame.reduce((sum, level) => sum + level, 0);
    squares[frame] = ofFrame.reduce((sum, level) => sum + level * level, 0);
  }
  return { length, levels, sums, squares };
}

/** Correlation of the levels of two stretches: 1 for equal sound, however loud. @param step between the frames that count */
export function similarity(a: Features, fromA: number, b: Features, fromB: number, frames: number, step = 1): number {
  let sumA = 0;
  let sumB = 0;
  let sumAA = 0;
  let sumBB = 0;
  let sumAB = 0;
  const [levelsA, levelsB] = [a.levels, b.levels];
  for (let frame = 0; frame < frames; frame += step) {
    sumA += a.sums[fromA + frame]!;
    sumB += b.sums[fromB + frame]!;
    sumAA += a.squares[fromA + frame]!;
    sumBB += b.squares[fromB + frame]!;
    const startA = (fromA + frame) * BANDS;
    const startB = (fromB + frame) * BANDS;
    for (let band = 0; band < BANDS; band++) sumAB += levelsA[startA + band]! * levelsB[startB + band]!;
  }
  const count = Math.ceil(frames / step) * BANDS;
  const spread = (sumAA - (sumA * sumA) / count) * (sumBB - (sumB * sumB) / count);
  return spread <= 1e-9 ? 0 : (sumAB - (sumA * sumB) / count) / Math.sqrt(spread);
}
