import { amplitudeOf } from './level.js';

/** Sound is active above a fixed level and above the noise floor plus a margin. */
export const MIN_THRESHOLD_DBFS = -55;
const MARGIN_DB = 9;
/** Louder audio never counts as background, however constant it is. */
const MAX_FLOOR_DBFS = -40;

/** Weight of a frame in the floor. It falls quickly, so that one noisy second hides no quiet speech, and rises slowly. */
const FALL = 0.2;
const RISE = 0.02;

/**
 * Sound is background if it stays below the largest floor and its level, averaged over 100 ms, stays within 6 dB for a second.
 * No speech is that even.
 */
const STEADY_BLOCK = 5;
const STEADY_BLOCKS = 10;
const STEADY_RATIO = 4;

/** Learns the level of steady background noise frame by frame. Levels are mean squares of samples. */
export class NoiseFloor {
  private floor = 0;
  private active = MIN_THRESHOLD;
  private readonly steady = { frames: 0, sum: 0, blocks: 0, min: 0, max: 0, total: 0 };

  /** A frame above it is active: max(-55 dBFS, floor + 9 dB). */
  get threshold(): number {
    return this.active;
  }

  /** Learns from a frame of background. */
  learn(energy: number): void {
    this.set(this.floor + (energy - this.floor) * (energy < this.floor ? FALL : RISE));
  }

  /** Starts to judge the steadiness of a new sound. */
  restart(): void {
    this.steady.frames = this.steady.sum = this.steady.blocks = 0;
  }

  /** Judges a frame of a sound. @returns whether it has been steady and quiet enough for background for a second */
  isSteady(energy: number): boolean {
    const { steady } = this;
    steady.frames++;
    steady.sum += energy;
    if (steady.frames < STEADY_BLOCK) return false;
    const level = steady.sum / STEADY_BLOCK;
    steady.frames = steady.sum = 0;
    const min = Math.min(steady.min, level);
    const max = Math.max(steady.max, level);
    const isEven = steady.blocks > 0 && max <= min * STEADY_RATIO;
    steady.blocks = isEven ? steady.blocks + 1 : 1;
    steady.min = isEven ? min : level;
    steady.max = isEven ? max : level;
    steady.total = isEven ? steady.total + level : level;
    return steady.blocks === STEADY_BLOCKS && steady.total / STEADY_BLOCKS <= MAX_FLOOR;
  }

  /** Takes the steady sound for the background. */
  learnSteady(): void {
    this.set(this.steady.total / STEADY_BLOCKS);
  }

  private set(meanSquare: number): void {
    this.floor = Math.min(meanSquare, MAX_FLOOR);
    this.active = Math.max(MIN_THRESHOLD, this.floor * MARGIN);
  }
}

const MIN_THRESHOLD = amplitudeOf(MIN_THRESHOLD_DBFS) ** 2;
const MAX_FLOOR = amplitudeOf(MAX_FLOOR_DBFS) ** 2;
const MARGIN = 10 ** (MARGIN_DB / 10);
