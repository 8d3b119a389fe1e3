import { amplitudeOf, dbfsOfMeanSquare } from './level.js';
import { FRAME_MS, LINE_RATES } from './rates.js';

/** Sound is active above the larger of both: a fixed level, and the noise floor plus a margin. */
const MIN_THRESHOLD_DBFS = -55;
const MARGIN_DB = 9;
/** Louder audio is never taken for background, however constant it is. */
const MAX_FLOOR_DBFS = -40;

const FRAMES_TO_OPEN = 3;
const FRAMES_TO_CLOSE = 10;

/** Share of a frame in the floor: it falls quickly, so that one noisy second does not hide quiet speech, and rises slowly. */
const FALL = 0.2;
const RISE = 0.02;

/**
 * Sound below the largest floor whose level, averaged over 100 ms, stays within 6 dB for a second is background: no speech
 * is that even.
 */
const STEADY_BLOCK = 5;
const STEADY_BLOCKS = 10;
const STEADY_RATIO = 4;
/** Frames whose energy is kept, to date a sound again when the level of the background is known: 10 s. */
const HISTORY = 512;

/** Blocks in which a frame is searched for its first and last active sample. */
const BLOCKS = 8;

/** Times are in milliseconds of audio since the first frame. */
export type GateEvent =
  | { readonly type: 'onset'; readonly atMs: number }
  | {
      readonly type: 'end';
      /** Later than the onset that was reported if the sound turned out to begin with steady background noise. */
      readonly onsetMs: number;
      /** Equal to `onsetMs` if nothing but steady background noise was heard. */
      readonly atMs: number;
      /** RMS level of its active frames. */
      readonly dbfs: number;
    };

/**
 * Finds audible sound by its energy, in frames of 20 ms: open after 60 ms of active frames, closed after 200 ms without one.
 * Onset and end are dated back to the first and last active sample. The mean of a frame is not counted: a constant is not
 * audible.
 *
 * A frame is active above max(-55 dBFS, noise floor + 9 dB). The floor learns only while the gate is closed and from frames
 * that were played, and from steady sound below -40 dBFS that would keep the gate open for the rest of the call.
 */
export class EnergyGate {
  private readonly rate: number;
  private readonly frameLength: number;
  private frames = 0;
  /** Mean squares. */
  private floor = 0;
  private threshold = meanSquareOf(MIN_THRESHOLD_DBFS);
  /** The frame before, for dating. */
  private readonly before: Int16Array;
  private current: Int16Array;
  private activeRun = 0;
  private inactiveRun = 0;
  /** Candidate while the gate is closed, then the onset of the open sound. In samples. */
  private onset = 0;
  /** After the last active sample. Its frame is searched only when an inactive frame follows. */
  private end = 0;
  private open = false;
  private energy = 0;
  private energyFrames = 0;
  private totalEnergy = 0;
  private totalFrames = 0;
  private readonly steady = { frames: 0, sum: 0, blocks: 0, min: 0, max: 0, total: 0 };
  /** Energies of the last frames; that of frame n at n modulo its length. */
  private readonly history = new Float64Array(HISTORY);

  /**
   * @param rate one of `LINE_RATES`
   * @throws RangeError for another rate
   */
  constructor(rate: number) {
    if (!LINE_RATES.some((one) => one === rate)) {
      throw new RangeError(`The energy gate needs sound at ${LINE_RATES.join(', ')} Hz, not ${rate}.`);
    }
    this.rate = rate;
    this.frameLength = (rate * FRAME_MS) / 1_000;
    this.before = new Int16Array(this.frameLength);
    this.current = this.before;
  }

  /**
   * @param frame 20 ms; may be reused afterwards
   * @param wasPlayed false if any of it is silence because nothing was buffered
   * @returns the event that the frame completes
   */
  push(frame: Int16Array, wasPlayed: boolean): GateEvent | null {
    if (frame.length !== this.frameLength) {
      throw new RangeError(`The energy gate needs frames of ${this.frameLength} samples, not ${frame.length}.`);
    }
    this.current = frame;
    const energy = variance(frame);
    const isActive = energy > this.threshold;
    this.history[this.frames % HISTORY] = energy;
    this.frames++;
    const event = this.open ? this.whileOpen(energy, isActive) : this.whileClosed(energy, isActive, wasPlayed);
    this.before.set(frame);
    return event;
  }

  /** Ends an open sound at the end of the call. */
  finish(): GateEvent | null {
    if (!this.open) return null;
    if (this.inactiveRun === 0) this.end = this.frames * this.frameLength;
    return this.close();
  }

  get isOpen(): boolean {
    return this.open;
  }

  /** Onset of the open sound; null while the gate is closed. */
  get onsetMs(): number | null {
    return this.open ? this.ms(this.onset) : null;
  }

  /** Whether active frames were heard that are too few yet to open the gate. */
  get isOnsetPending(): boolean {
    return !this.open && this.activeRun > 0;
  }

  /** End of the active sound in the open gate so far; null while the gate is closed. */
  get activeUntilMs(): number | null {
    if (!this.open) return null;
    return this.ms(this.inactiveRun === 0 ? this.frames * this.frameLength : this.end);
  }

  /** Level of all active frames of ended and open sounds; null before the first one. */
  get activeDbfs(): number | null {
    const frames = this.totalFrames + this.energyFrames;
    return frames === 0 ? null : dbfsOfMeanSquare((this.totalEnergy + this.energy) / frames);
  }

  /** Level above which a frame is active at present. */
  get thresholdDbfs(): number {
    return dbfsOfMeanSquare(this.threshold);
  }

  /** Whether a sound of any length would be active at present. */
  isActive(pcm: Int16Array): boolean {
    return pcm.length > 0 && variance(pcm) > this.threshold;
  }

  private whileClosed(energy: number, isActive: boolean, wasPlayed: boolean): GateEvent | null {
    if (!isActive) {
      this.activeRun = 0;
      this.energy = 0;
      this.energyFrames = 0;
      if (wasPlayed) this.learn(energy);
      return null;
    }
    if (this.activeRun === 0) this.onset = this.firstActiveSample();
    this.activeRun++;
    this.count(energy);
    if (this.activeRun < FRAMES_TO_OPEN) return null;
    this.open = true;
    this.inactiveRun = 0;
    this.steady.frames = this.steady.sum = this.steady.blocks = 0;
    return { type: 'onset', atMs: this.ms(this.onset) };
  }

  private whileOpen(energy: number, isActive: boolean): GateEvent | null {
    if (this.isSteady(energy)) return this.closeAsBackground();
    if (isActive) {
      this.inactiveRun = 0;
      this.count(energy);
      return null;
    }
    this.inactiveRun++;
    if (this.inactiveRun === 1) this.end = this.lastActiveSample();
    return this.inactiveRun < FRAMES_TO_CLOSE ? null : this.close();
  }

  private count(energy: number): void {
    this.energy += energy;
    this.energyFrames++;
  }

  private close(): GateEvent {
    const dbfs = dbfsOfMeanSquare(this.energy / Math.max(1, this.energyFrames));
    const event = { type: 'end', onsetMs: this.ms(this.onset), atMs: this.ms(this.end), dbfs } as const;
    this.totalEnergy += this.energy;
    this.totalFrames += this.energyFrames;
    this.energy = 0;
    this.energyFrames = 0;
    this.activeRun = 0;
    this.open = false;
    return event;
  }

  /** Whether the sound has been steady, and quiet enough for background, for a second. */
  private isSteady(energy: number): boolean {
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

  /** Learns the floor from the steady sound, dates the sound before it again, to the frame, and ends it. */
  private closeAsBackground(): GateEvent {
    this.setFloor(this.steady.total / STEADY_BLOCKS);
    const oldest = Math.max(0, this.frames - HISTORY);
    const opened = Math.floor(this.onset / this.frameLength);
    let end = this.frames;
    while (end > Math.max(oldest, opened) && !this.wasActive(end - 1)) end--;
    let onset = Math.max(oldest, opened);
    while (onset < end && !this.wasLoudFrom(onset)) onset++;
    if (onset > opened && onset > oldest) this.onset = onset * this.frameLength;
    this.end = Math.max(this.onset, end * this.frameLength);
    this.energy = 0;
    this.energyFrames = 0;
    for (let frame = onset; frame < end; frame++) if (this.wasActive(frame)) this.count(this.history[frame % HISTORY]!);
    return this.close();
  }

  /** Whether a frame of the history is active by the present threshold. */
  private wasActive(frame: number): boolean {
    return this.history[frame % HISTORY]! > this.threshold;
  }

  private wasLoudFrom(frame: number): boolean {
    for (let n = 0; n < FRAMES_TO_OPEN; n++) if (frame + n >= this.frames || !this.wasActive(frame + n)) return false;
    return true;
  }

  private learn(energy: number): void {
    this.setFloor(this.floor + (energy - this.floor) * (energy < this.floor ? FALL : RISE));
  }

  private setFloor(meanSquare: number): void {
    this.floor = Math.min(meanSquare, MAX_FLOOR);
    this.threshold = Math.max(MIN_THRESHOLD, this.floor * MARGIN);
  }

  /** In the present frame, or at the end of the one before if it was already active there. */
  private firstActiveSample(): number {
    const start = this.frames * this.frameLength - this.frameLength;
    let block = 0;
    while (block < BLOCKS - 1 && !this.isBlockActive(this.current, block)) block++;
    if (block > 0 || this.frames === 1) return start + this.firstAbove(this.current, block);
    let earlier = BLOCKS;
    while (earlier > 0 && this.isBlockActive(this.before, earlier - 1)) earlier--;
    if (earlier === BLOCKS) return start + this.firstAbove(this.current, 0);
    return start - this.frameLength + this.firstAbove(this.before, earlier);
  }

  /** After the last active sample of the frame before, or of the present one if the sound continues into it. */
  private lastActiveSample(): number {
    const start = this.frames * this.frameLength - this.frameLength;
    let later = 0;
    while (later < BLOCKS && this.isBlockActive(this.current, later)) later++;
    if (later > 0) return start + this.lastAbove(this.current, later - 1) + 1;
    let block = BLOCKS - 1;
    while (block > 0 && !this.isBlockActive(this.before, block)) block--;
    return start - this.frameLength + this.lastAbove(this.before, block) + 1;
  }

  private isBlockActive(frame: Int16Array, block: number): boolean {
    const length = this.frameLength / BLOCKS;
    let squares = 0;
    for (let n = block * length; n < (block + 1) * length; n++) squares += frame[n]! * frame[n]!;
    return squares / length > this.threshold;
  }

  /** An active block has a sample above the threshold, since its mean square is. */
  private firstAbove(frame: Int16Array, block: number): number {
    const amplitude = Math.sqrt(this.threshold);
    let n = (block * this.frameLength) / BLOCKS;
    while (n < this.frameLength - 1 && Math.abs(frame[n]!) <= amplitude) n++;
    return n;
  }

  private lastAbove(frame: Int16Array, block: number): number {
    const amplitude = Math.sqrt(this.threshold);
    let n = ((block + 1) * this.frameLength) / BLOCKS - 1;
    while (n > 0 && Math.abs(frame[n]!) <= amplitude) n--;
    return n;
  }

  private ms(samples: number): number {
    return (samples * 1_000) / this.rate;
  }
}

function meanSquareOf(dbfs: number): number {
  return amplitudeOf(dbfs) ** 2;
}

const MIN_THRESHOLD = meanSquareOf(MIN_THRESHOLD_DBFS);
const MAX_FLOOR = meanSquareOf(MAX_FLOOR_DBFS);
const MARGIN = 10 ** (MARGIN_DB / 10);

/** Mean square without the mean. */
function variance(pcm: Int16Array): number {
  let sum = 0;
  let squares = 0;
  for (let n = 0; n < pcm.length; n++) {
    sum += pcm[n]!;
    squares += pcm[n]! * pcm[n]!;
  }
  return squares / pcm.length - (sum / pcm.length) ** 2;
}
