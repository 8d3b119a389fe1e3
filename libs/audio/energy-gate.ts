import { dbfsOfMeanSquare } from './level.js';
import { NoiseFloor } from './noise-floor.js';
import { FRAME_MS, LINE_RATES } from './rates.js';

const FRAMES_TO_OPEN = 3;
const FRAMES_TO_CLOSE = 10;

/** Frames whose energy is kept to date a sound again once the level of the background is known: 10 s. */
const HISTORY = 512;

/** Length of the blocks in which a frame is searched for its first and last active sample. */
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
      /** Sum of the mean squares of its active frames, and their number. */
      readonly energy: number;
      readonly frames: number;
      /** Present if it ended because only steady background noise remained. */
      readonly isSteady?: true;
    };

type GateEnd = Extract<GateEvent, { readonly type: 'end' }>;

/**
 * Finds audible sound by its energy, in frames of 20 ms. It opens after 60 ms of active frames and closes after 200 ms without
 * one. Onset and end are dated back to the first and last active sample. The mean of a frame is subtracted, because a constant
 * is not audible.
 *
 * A frame is active above max(-55 dBFS, noise floor + 9 dB). The floor learns from played frames while the gate is closed, and
 * from steady sound below -40 dBFS, which would otherwise keep the gate open for the rest of the call.
 */
export class EnergyGate {
  private readonly rate: number;
  private readonly frameLength: number;
  private frames = 0;
  private readonly floor = new NoiseFloor();
  /** The previous frame, for dating. */
  private readonly before: Int16Array;
  private current: Int16Array;
  private activeRun = 0;
  private inactiveRun = 0;
  /** In samples: a candidate while the gate is closed, then the onset of the open sound. */
  private onset = 0;
  /** Position after the last active sample. Its frame is searched only when an inactive frame follows. */
  private end = 0;
  private open = false;
  private energy = 0;
  private energyFrames = 0;
  /** Energies of the last frames; frame n is at n modulo the length. */
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
    const energy = energyOf(frame);
    const isActive = energy > this.floor.threshold;
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

  /** Whether there were active frames, but still too few to open the gate. */
  get isOnsetPending(): boolean {
    return !this.open && this.activeRun > 0;
  }

  /** End of the active sound in the open gate so far; null while the gate is closed. */
  get activeUntilMs(): number | null {
    if (!this.open) return null;
    return this.ms(this.inactiveRun === 0 ? this.frames * this.frameLength : this.end);
  }

  /** Mean square of the latest frame. */
  get latestEnergy(): number {
    return this.history[(this.frames - 1) % HISTORY] ?? 0;
  }

  /** Whether audio would be active at present, regardless of its length. */
  isActive(pcm: Int16Array): boolean {
    return pcm.length > 0 && energyOf(pcm) > this.floor.threshold;
  }

  private whileClosed(energy: number, isActive: boolean, wasPlayed: boolean): GateEvent | null {
    if (!isActive) {
      this.activeRun = 0;
      this.energy = 0;
      this.energyFrames = 0;
      if (wasPlayed) this.floor.learn(energy);
      return null;
    }
    if (this.activeRun === 0) this.onset = this.firstActiveSample();
    this.activeRun++;
    this.count(energy);
    if (this.activeRun < FRAMES_TO_OPEN) return null;
    this.open = true;
    this.inactiveRun = 0;
    this.floor.restart();
    return { type: 'onset', atMs: this.ms(this.onset) };
  }

  private whileOpen(energy: number, isActive: boolean): GateEvent | null {
    if (this.floor.isSteady(energy)) return this.closeAsBackground();
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

  private close(): GateEnd {
    const { energy, energyFrames: frames } = this;
    const dbfs = dbfsOfMeanSquare(energy / Math.max(1, frames));
    const event = { type: 'end', onsetMs: this.ms(this.onset), atMs: this.ms(this.end), dbfs, energy, frames } as const;
    this.energy = 0;
    this.energyFrames = 0;
    this.activeRun = 0;
    this.open = false;
    return event;
  }

  /** Learns the floor from the steady sound, and ends the sound before it, which it dates again to the frame. */
  private closeAsBackground(): GateEnd {
    this.floor.learnSteady();
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
    return { ...this.close(), isSteady: true };
  }

  /** Whether a frame of the history is active by the present threshold. */
  private wasActive(frame: number): boolean {
    return this.history[frame % HISTORY]! > this.floor.threshold;
  }

  private wasLoudFrom(frame: number): boolean {
    for (let n = 0; n < FRAMES_TO_OPEN; n++) if (frame + n >= this.frames || !this.wasActive(frame + n)) return false;
    return true;
  }

  /** Onset in the present frame, or at the end of the previous one if that was already active. */
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

  /** Position after the last active sample of the previous frame, or of the present one if the sound continues into it. */
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
    return squares / length > this.floor.threshold;
  }

  /** In an active block at least one sample is above the threshold, since the mean square is. */
  private firstAbove(frame: Int16Array, block: number): number {
    const amplitude = Math.sqrt(this.floor.threshold);
    let n = (block * this.frameLength) / BLOCKS;
    while (n < this.frameLength - 1 && Math.abs(frame[n]!) <= amplitude) n++;
    return n;
  }

  private lastAbove(frame: Int16Array, block: number): number {
    const amplitude = Math.sqrt(this.floor.threshold);
    let n = ((block + 1) * this.frameLength) / BLOCKS - 1;
    while (n > 0 && Math.abs(frame[n]!) <= amplitude) n--;
    return n;
  }

  private ms(samples: number): number {
    return (samples * 1_000) / this.rate;
  }
}

/** Mean square without the mean. */
export function energyOf(pcm: Int16Array): number {
  let sum = 0;
  let squares = 0;
  for (let n = 0; n < pcm.length; n++) {
    sum += pcm[n]!;
    squares += pcm[n]! * pcm[n]!;
  }
  return squares / pcm.length - (sum / pcm.length) ** 2;
}
