import { dbfsOfMeanSquare } from './level.js';
import { FRAME_MS } from './rates.js';

/** Levels are steps of half a decibel above this one, so they are the same whole numbers on every machine. */
const LOWEST_DBFS = -100;
export const STEPS_PER_DB = 2;
const STEPS = -LOWEST_DBFS * STEPS_PER_DB + 1;

/** Number of kept frames: a minute. */
const KEPT = 60_000 / FRAME_MS;
/** A level is the mean energy of this many frames. */
const FRAMES_PER_LEVEL = 3;

/**
 * Speech level: the level that the sound of the last 30 s exceeded for 400 ms, or for a fifth of it, minus 2.5 dB. There is
 * none before half a second of audio (docs/decisions/0121).
 */
const SPEECH_FRAMES = 30_000 / FRAME_MS;
const SPEECH = { least: 500 / FRAME_MS, exceeds: 400 / FRAME_MS, share: 5, margin: 2.5 * STEPS_PER_DB } as const;

/** At most one frame in this many is a drum or a key stroke. */
const SPARSE = 3;

/** Step between the levels that are kept of a sound: 2 dB. */
const REACHED_STEP = 2 * STEPS_PER_DB;

/** When a sound first, or last, reached a level. */
export interface ReachedLevel {
  readonly atMs: number;
  readonly dbfs: number;
}

export const stepsOf = (dbfs: number): number => (dbfs - LOWEST_DBFS) * STEPS_PER_DB;
export const dbfsOfSteps = (steps: number): number => steps / STEPS_PER_DB + LOWEST_DBFS;
/** @returns the step nearest to a mean square of samples */
const stepOf = (energy: number): number =>
  Math.min(STEPS - 1, Math.max(0, Math.round(stepsOf(dbfsOfMeanSquare(energy)))));

/**
 * The levels of the last minute, one per frame: the mean energy of the last 60 ms. Frames are numbered from 0; levels are in
 * steps of half a decibel.
 */
export class LevelHistory {
  private frames = 0;
  private readonly energies = new Float64Array(KEPT);
  private readonly levels = new Uint8Array(KEPT);
  private readonly sounding = new Uint8Array(KEPT);
  /** How often each level occurred in the sound of the last 30 s. */
  private readonly counts = new Uint16Array(STEPS);
  private counted = 0;

  /** Number of frames so far. */
  get length(): number {
    return this.frames;
  }

  /** The oldest frame that is kept. */
  get oldest(): number {
    return Math.max(0, this.frames - KEPT);
  }

  /** @param energy mean square of the samples @param isSounding whether the frame counts for the speech level */
  push(energy: number, isSounding: boolean): void {
    if (this.frames >= SPEECH_FRAMES) this.forget(this.frames - SPEECH_FRAMES);
    const at = this.frames % KEPT;
    this.energies[at] = energy;
    this.frames++;
    let sum = 0;
    for (let n = 1; n <= FRAMES_PER_LEVEL && n <= this.frames; n++) sum += this.energies[(this.frames - n) % KEPT]!;
    const level = stepOf(sum / FRAMES_PER_LEVEL);
    this.levels[at] = level;
    this.sounding[at] = isSounding ? 1 : 0;
    if (!isSounding) return;
    this.counts[level]!++;
    this.counted++;
  }

  levelAt(frame: number): number {
    return this.levels[frame % KEPT]!;
  }

  energyAt(frame: number): number {
    return this.energies[frame % KEPT]!;
  }

  /** Whether a single frame is louder than a level. */
  isAbove(frame: number, level: number): boolean {
    return stepOf(this.energyAt(frame)) > level;
  }

  /** Start of the first run of frames above a level; `to` without one. */
  firstAbove(from: number, to: number, level: number, run: number): number {
    let above = 0;
    for (let frame = from; frame < to; frame++) {
      above = this.levelAt(frame) > level ? above + 1 : 0;
      if (above === run) return frame + 1 - run;
    }
    return to;
  }

  /** Frame after the last such run; `from` without one. */
  lastAbove(from: number, to: number, level: number, run: number): number {
    let above = 0;
    for (let frame = to; frame-- > from;) {
      above = this.levelAt(frame) > level ? above + 1 : 0;
      if (above === run) return frame + run;
    }
    return from;
  }

  /** Whether the frames above a level are so few that they are drums or key strokes rather than pieces of speech. */
  isSparse(from: number, to: number, level: number): boolean {
    let above = 0;
    for (let frame = from; frame < to; frame++) if (this.levelAt(frame) > level) above++;
    return above * SPARSE < to - from;
  }

  /** Frame until which the levels, from a given frame on, stay within a range. */
  evenUntil(from: number, to: number, range: number): number {
    let [low, high] = [STEPS, 0];
    let frame = Math.max(from, this.oldest);
    for (; frame < to; frame++) {
      const level = this.levelAt(frame);
      [low, high] = [Math.min(low, level), Math.max(high, level)];
      if (high - low > range) break;
    }
    return frame;
  }

  /** The level of the agent's voice; null before half a second of audio. */
  get speechLevel(): number | null {
    if (this.counted < SPEECH.least) return null;
    const wanted = Math.min(SPEECH.exceeds, Math.floor(this.counted / SPEECH.share));
    let level = STEPS;
    for (let above = 0; above < wanted;) above += this.counts[--level]!;
    return level - SPEECH.margin;
  }

  /** Levels that this many percent of the frames in [from, to) do not exceed. */
  percentiles(from: number, to: number, ...percents: readonly number[]): number[] {
    const counts = new Uint16Array(STEPS);
    const first = Math.max(from, this.oldest);
    for (let frame = first; frame < to; frame++) counts[this.levelAt(frame)]!++;
    return percents.map((percent) => {
      const wanted = Math.max(1, Math.ceil(((to - first) * percent) / 100));
      let level = -1;
      for (let below = 0; below < wanted && level < STEPS - 1;) below += counts[++level]!;
      return level;
    });
  }

  /** Each louder level that lasts for 60 ms, from the start of [from, to) on; backwards from the end if `to` < `from`. */
  reached(from: number, to: number): ReachedLevel[] {
    const found: ReachedLevel[] = [];
    const step = to < from ? -1 : 1;
    const kept = (frame: number) => Math.max(frame, this.oldest);
    let loudest = 0;
    for (let frame = kept(from); frame * step < kept(to) * step; frame += step) {
      const at = step === 1 ? frame : frame - FRAMES_PER_LEVEL;
      if (at < this.oldest || at + FRAMES_PER_LEVEL > this.frames) continue;
      const level = Math.min(this.levelAt(at), this.levelAt(at + 1), this.levelAt(at + 2));
      if (level < loudest + REACHED_STEP) continue;
      loudest = level;
      found.push({ atMs: frame * FRAME_MS, dbfs: dbfsOfSteps(level) });
    }
    return found;
  }

  private forget(frame: number): void {
    const at = frame % KEPT;
    if (this.sounding[at] === 0) return;
    this.counts[this.levels[at]!]!--;
    this.counted--;
  }
}
