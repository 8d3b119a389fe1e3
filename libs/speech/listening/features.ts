/** Levels of the bands of each frame, one frame after the other. */
export type Features = readonly Float32Array[];

const RATE = 8_000;
const FRAME = 200;
const HOP = 80;
const FREQUENCIES = Array.from({ length: 20 }, (_, n) => 200 * (3_400 / 200) ** (n / 19));
/** Power below which a band is silent. */
const FLOOR = 100;

const WINDOW = Float64Array.from({ length: FRAME }, (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / FRAME));
const WAVES = FREQUENCIES.map((hz) => ({
  cos: WINDOW.map((weight, n) => weight * Math.cos((2 * Math.PI * hz * n) / RATE)),
  sin: WINDOW.map((weight, n) => weight * Math.sin((2 * Math.PI * hz * n) / RATE)),
}));

/** @param pcm at 8,000 Hz */
export function featuresOf(pcm: Int16Array): Features {
  const frames = Math.max(0, Math.floor((pcm.length - FRAME) / HOP) + 1);
  return Array.from({ length: frames }, (_, frame) =>
    Float32Array.from(WAVES, ({ cos, sin }) => {
      let [re, im] = [0, 0];
      for (let n = 0; n < FRAME; n++) {
        const sample = pcm[frame * HOP + n]!;
        re += sample * cos[n]!;
        im += sample * sin[n]!;
      }
      return Math.log(FLOOR ** 2 + (re * re + im * im) / FRAME);
    }),
  );
}

/** Correlation of the levels of two stretches: 1 for equal sound, however loud. @param step between the frames that count */
export function similarity(a: Features, fromA: number, b: Features, fromB: number, frames: number, step = 1): number {
  let [sumA, sumB, sumAA, sumBB, sumAB, count] = [0, 0, 0, 0, 0, 0];
  for (let frame = 0; frame < frames; frame += step) {
    const [bandsA, bandsB] = [a[fromA + frame]!, b[fromB + frame]!];
    for (let band = 0; band < bandsA.length; band++) {
      const [x, y] = [bandsA[band]!, bandsB[band]!];
      sumA += x;
      sumB += y;
      sumAA += x * x;
      sumBB += y * y;
      sumAB += x * y;
      count++;
    }
  }
  const spread = (sumAA - (sumA * sumA) / count) * (sumBB - (sumB * sumB) / count);
  return spread <= 1e-9 ? 0 : (sumAB - (sumA * sumB) / count) / Math.sqrt(spread);
}
