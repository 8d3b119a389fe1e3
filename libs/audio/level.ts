import { MULAW_FULL_SCALE } from './g711.js';

/** Levels are relative to a square wave at full scale (ITU-T dBov): a sine at full scale has -3 dBFS. */
const FULL_SCALE = 32_768;

/** Amplitude of a level in dBFS, in units of 16-bit samples. */
export const amplitudeOf = (dbfs: number): number => FULL_SCALE * 10 ** (dbfs / 20);

/** Level of a mean square of samples; -Infinity for silence. */
export const dbfsOfMeanSquare = (meanSquare: number): number => 10 * Math.log10(meanSquare / FULL_SCALE ** 2);

/** RMS level in dBFS; -Infinity for silence or no samples. */
export function dbfs(pcm: Int16Array): number {
  return pcm.length === 0 ? -Infinity : dbfsOfMeanSquare(sumOfSquares(pcm) / pcm.length);
}

function sumOfSquares(pcm: Int16Array): number {
  let sum = 0;
  for (let n = 0; n < pcm.length; n++) sum += pcm[n]! * pcm[n]!;
  return sum;
}

/** RMS level of audio that arrives in parts. */
export class LevelMeter {
  private sum = 0;
  private count = 0;

  push(pcm: Int16Array): void {
    this.sum += sumOfSquares(pcm);
    this.count += pcm.length;
  }

  /** -Infinity for silence; null before the first sample. */
  get dbfs(): number | null {
    return this.count === 0 ? null : dbfsOfMeanSquare(this.sum / this.count);
  }
}

/** ITU-T P.56, method B: time constant of the envelope, hangover, margin between level and threshold. */
const TIME_CONSTANT_S = 0.03;
const HANGOVER_S = 0.2;
const MARGIN_DB = 15.9;
/** Thresholds of the envelope: powers of two of the 16-bit sample, 1 to 16,384. */
const THRESHOLDS = Array.from({ length: 15 }, (_, n) => 2 ** n);

/**
 * Active speech level in dBFS by ITU-T P.56 (03/93), method B: the level during speech, including pauses of up to 200 ms.
 * -Infinity for silence.
 */
export function activeLevel(pcm: Int16Array, rate: number): number {
  const square = sumOfSquares(pcm);
  if (square === 0) return -Infinity;
  const activity = activeSamples(pcm, rate);
  // Between the two thresholds around the margin, level and threshold are interpolated linearly in decibels.
  let before: { readonly level: number; readonly excess: number } | undefined;
  for (const [n, threshold] of THRESHOLDS.entries()) {
    if (activity[n] === 0) break;
    const level = dbfsOfMeanSquare(square / activity[n]!);
    const excess = level - 20 * Math.log10(threshold / FULL_SCALE) - MARGIN_DB;
    if (excess <= 0) {
      if (!before) return level;
      return before.level + ((level - before.level) * before.excess) / (before.excess - excess);
    }
    before = { level, excess };
  }
  // The audio is too quiet or too short for the lowest thresholds.
  return before?.level ?? dbfs(pcm);
}

/** Number of active samples for each threshold. */
function activeSamples(pcm: Int16Array, rate: number): Float64Array {
  const decay = Math.exp(-1 / (rate * TIME_CONSTANT_S));
  const hangover = Math.ceil(rate * HANGOVER_S);
  const activity = new Float64Array(THRESHOLDS.length);
  const idle = new Float64Array(THRESHOLDS.length).fill(hangover);
  let smoothed = 0;
  let envelope = 0;
  for (let n = 0; n < pcm.length; n++) {
    smoothed = decay * smoothed + (1 - decay) * Math.abs(pcm[n]!);
    envelope = decay * envelope + (1 - decay) * smoothed;
    for (let j = 0; j < THRESHOLDS.length; j++) {
      if (envelope >= THRESHOLDS[j]!) idle[j] = 0;
      else if (idle[j]! < hangover) idle[j] = idle[j]! + 1;
      else break; // Higher thresholds have been idle for at least as long.
      activity[j] = activity[j]! + 1;
    }
  }
  return activity;
}

/** Changes the volume; samples beyond full scale are clipped. */
export function applyGain(pcm: Int16Array, db: number): Int16Array {
  const factor = 10 ** (db / 20);
  return Int16Array.from(pcm, (sample) => saturate(sample * factor));
}

/** Rounds a number to a 16-bit sample and clips it at full scale. */
export const saturate = (value: number): number =>
  value >= 32_767 ? 32_767 : value <= -32_768 ? -32_768 : Math.round(value);

/** Scales speech to the active level `targetDbfs`. Silence is returned unchanged. */
export function normaliseLevel(pcm: Int16Array, rate: number, targetDbfs: number): Int16Array {
  const level = activeLevel(pcm, rate);
  return level === -Infinity ? pcm.slice() : applyGain(pcm, targetDbfs - level);
}

/** Positions of the first sample above the threshold and after the last one; both 0 without one. */
export function speechBounds(pcm: Int16Array, thresholdDbfs = -45): { readonly start: number; readonly end: number } {
  const amplitude = amplitudeOf(thresholdDbfs);
  const isAbove = (sample: number) => Math.abs(sample) > amplitude;
  const start = pcm.findIndex(isAbove);
  return start < 0 ? { start: 0, end: 0 } : { start, end: pcm.findLastIndex(isAbove) + 1 };
}

/** Minimum run of samples at full scale that counts as clipped: fewer may be the peak of an undistorted wave. */
const MIN_CLIPPED_RUN = 3;

/** Counts clipped samples: runs at full scale, which on the telephone is the largest value of mu-law. */
export class ClippingMeter {
  private run = 0;
  /** Samples in runs of at least three. */
  clipped = 0;
  samples = 0;

  push(pcm: Int16Array): void {
    this.samples += pcm.length;
    for (let n = 0; n < pcm.length; n++) {
      const sign = pcm[n]! >= MULAW_FULL_SCALE ? 1 : pcm[n]! <= -MULAW_FULL_SCALE ? -1 : 0;
      // `run` has the sign of its samples.
      this.run = sign !== 0 && sign * this.run > 0 ? this.run + sign : sign;
      const length = Math.abs(this.run);
      if (length === MIN_CLIPPED_RUN) this.clipped += length;
      else if (length > MIN_CLIPPED_RUN) this.clipped++;
    }
  }

  /** Percentage of clipped samples, 0 to 100. */
  get percent(): number {
    return this.samples === 0 ? 0 : (100 * this.clipped) / this.samples;
  }
}
