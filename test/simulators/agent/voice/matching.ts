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
  /** Mean difference, in decibels, of the bands that are louder than the noise; lower is better. */
  readonly distance: number;
  /** Frames of the template that the sound does not reach. */
  readonly missingFrames: number;
}

/** How far the alignment may depart from equal speed, in frames: more in long lines, since each pause may be cut short. */
const bendOf = (frames: number): number => 8 + Math.min(16, Math.floor(frames / 14));
/** Frames at the beginning that either side may lack, because noise hides a weak consonant. */
const FREE_START = 6;
/** A greater difference counts as this one, in decibels: a single band must not decide. */
const MOST_DB = 24;
/** A sound that fits badly at first may still fit well; a match is given up when it is this share of all beyond its limit. */
const SLACK = 0.2;
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

/** A sound that was heard, with noise under it. */
export interface Sample {
  readonly frames: number;
  /** As `Template.loudest`. */
  readonly loudest: Float32Array;
  /** Nowhere below `floor`. */
  readonly features: Features;
  /** Level for each band below which nothing is compared. */
  readonly floor: Float32Array;
  /** Number of the values above the floor in the first n + 1 frames. */
  readonly loud: Float32Array;
}

/** @param floor for each band, the level below which nothing is compared */
export function sampleOf({ features, frames, loudest }: Template, floor: Float32Array): Sample {
  const loud = new Float32Array(frames);
  let count = 0;
  const floored = features.map((level, index) => {
    const least = floor[index % BANDS]!;
    if (level > least) count += 1;
    loud[Math.floor(index / BANDS)] = count;
    return Math.max(level, least);
  });
  return { frames, loudest, features: floored, floor, loud };
}

/**
 * Compares a sound with the beginning of a template by dynamic time warping. The level does not count.
 * @param limit a distance above which the match is not needed
 */
export function match(sample: Sample, template: Template, limit: number): Match {
  const { frames: rows, loudest, loud } = sample;
  const bend = bendOf(rows);
  const width = 2 * bend + 1;
  if (rows === 0 || rows > template.frames + bend) return NO_MATCH;
  const gain = loudest[rows - 1]! - template.loudest[Math.min(rows, template.frames) - 1]!;
  const total = loud[rows - 1]!;
  let before = new Float64Array(width).fill(Infinity);
  let row = new Float64Array(width);
  for (let index = 0; index < rows; index += 1) {
    let least = Infinity;
    row.fill(Infinity);
    for (let offset = 0; offset < width; offset += 1) {
      const column = index + offset - bend;
      if (column < 0 || column >= template.frames) continue;
      const isStart = (index === 0 && column <= FREE_START) || (column === 0 && index <= FREE_START);
      // One frame of both, one of the sound more, one of the template more.
      let reached = isStart ? 0 : before[offset]!;
      if (offset + 1 < width && before[offset + 1]! < reached) reached = before[offset + 1]!;
      if (offset > 0 && row[offset - 1]! < reached) reached = row[offset - 1]!;
      const sum = reached + difference(sample, index, template.features, column, gain);
      row[offset] = sum;
      if (sum < least) least = sum;
    }
    if (least > limit * (loud[index]! + SLACK * total)) return NO_MATCH;
    [before, row] = [row, before];
  }
  return bestEnd(before, rows - bend, template.frames, total);
}

/** @param first the template's frames up to the first entry of the last row */
function bestEnd(last: Float64Array, first: number, frames: number, total: number): Match {
  let best = NO_MATCH;
  for (let offset = 0; offset < last.length; offset += 1) {
    const distance = last[offset]! / total;
    if (distance < best.distance) best = { distance, missingFrames: frames - (first + offset) };
  }
  return best;
}

function difference(
  { features, floor }: Sample,
  frame: number,
  template: Features,
  templateFrame: number,
  gain: number,
): number {
  let sum = 0;
  const bands = floor.length;
  const from = frame * bands;
  const other = templateFrame * bands;
  for (let band = 0; band < bands; band += 1) {
    const least = floor[band]!;
    const level = template[other + band]! + gain;
    const apart = features[from + band]! - (level > least ? level : least);
    const size = apart < 0 ? -apart : apart;
    sum += size < MOST_DB ? size : MOST_DB;
  }
  return sum;
}
