import { BANDS, type Features } from './features.js';

/** A known sound, ready to be compared. */
export interface Template {
  readonly features: Features;
  readonly frames: number;
  /** Loudest level of the first n + 1 frames, in decibels. */
  readonly loudest: Float32Array;
}

/** How well a sound fits the beginning of a template, or all of it. */
export interface Match {
  /** Mean difference of a band in decibels; lower is better. */
  readonly distance: number;
  /** Frames of the template that the sound does not reach. */
  readonly missingFrames: number;
}

/** How far the alignment may depart from equal speed, in frames. */
const BEND = 8;
/** Frames at the beginning that either side may lack, because noise hides a weak consonant. */
const FREE_START = 6;
/** A greater difference counts as this one, in decibels: a single band must not decide. */
const MOST_DB = 24;
const NO_MATCH: Match = { distance: Infinity, missingFrames: 0 };

export function templateOf(features: Features): Template {
  const frames = features.length / BANDS;
  const loudest = new Float32Array(frames);
  for (let frame = 0, level = -Infinity; frame < frames; frame += 1) {
    level = Math.max(level, levelOf(features, frame));
    loudest[frame] = level;
  }
  return { features, frames, loudest };
}

function levelOf(features: Features, frame: number): number {
  let level = -Infinity;
  for (let band = 0; band < BANDS; band += 1) level = Math.max(level, features[frame * BANDS + band]!);
  return level;
}

/** A sound with noise under it. */
export interface Sample {
  readonly template: Template;
  /** Level for each band below which nothing is compared. */
  readonly floor: Float32Array;
}

/**
 * Compares a sound with the beginning of a template by dynamic time warping. The level does not count.
 * @param limit a distance above which the match is not needed
 */
export function match({ template: heard, floor }: Sample, template: Template, limit: number): Match {
  const rows = heard.frames;
  if (rows === 0 || rows > template.frames + 2 * BEND) return NO_MATCH;
  const width = 2 * BEND + 1;
  const gain = heard.loudest[rows - 1]! - template.loudest[Math.min(rows, template.frames) - 1]!;
  let before = new Float64Array(width).fill(Infinity);
  let row = new Float64Array(width);
  const limitSum = limit * rows;
  for (let index = 0; index < rows; index += 1) {
    let least = Infinity;
    for (let offset = 0; offset < width; offset += 1) {
      const column = index + offset - BEND;
      row[offset] = Infinity;
      if (column < 0 || column >= template.frames) continue;
      const isStart = (index === 0 && column <= FREE_START) || (column === 0 && index <= FREE_START);
      // Diagonal, one frame of the sound more, one of the template more.
      const reached = Math.min(
        isStart ? 0 : Infinity,
        before[offset]!,
        offset + 1 < width ? before[offset + 1]! : Infinity,
        offset > 0 ? row[offset - 1]! : Infinity,
      );
      if (reached === Infinity) continue;
      const sum = reached + difference(heard.features, index, template.features, column, gain, floor);
      row[offset] = sum;
      least = Math.min(least, sum);
    }
    if (least > limitSum) return NO_MATCH;
    [before, row] = [row, before];
  }
  return bestEnd(before, rows, template.frames);
}

function bestEnd(last: Float64Array, rows: number, frames: number): Match {
  let best = NO_MATCH;
  for (let offset = 0; offset < last.length; offset += 1) {
    const distance = last[offset]! / rows;
    if (distance < best.distance) best = { distance, missingFrames: frames - (rows + offset - BEND) };
  }
  return best;
}

function difference(
  heard: Features,
  heardFrame: number,
  template: Features,
  templateFrame: number,
  gain: number,
  floor: Float32Array,
): number {
  let sum = 0;
  const [from, other] = [heardFrame * BANDS, templateFrame * BANDS];
  for (let band = 0; band < BANDS; band += 1) {
    const least = floor[band]!;
    const x = heard[from + band]!;
    const y = template[other + band]! + gain;
    const difference = Math.abs((x > least ? x : least) - (y > least ? y : least));
    sum += difference < MOST_DB ? difference : MOST_DB;
  }
  return sum / BANDS;
}
