import { FRAME_MS, RATE } from './frames.js';

/** Levels in dBFS and windows in frames; chosen for speech at -26 dBFS with noise up to 10 dB, or voices up to 15 dB, below it. */
const LEAST_DBFS = -50;
const OVER_FLOOR_DB = 4.5;
const FLOOR_WINDOW = 4_000 / FRAME_MS;
const FLOOR_SHARE = 0.1;
const LOWEST = -96;
/** From this noise on, single samples say nothing about the end of speech. */
const NOISY_DBFS = -60;
/**
 * Noise that is itself made of voices varies too much to be known by its floor. So speech is also louder than the loudest
 * frame of the quietest of the last seconds: the caller was silent in it.
 */
const SECOND = 1_000 / FRAME_MS;
const SECONDS = 10;
const OVER_QUIETEST_DB = 3;
/** A second with a louder frame has speech of the caller in it. */
const LOUDEST_QUIET_DBFS = -33;
/** Assumed until there was a quiet second: noise 15 dB below speech. */
const ASSUMED_QUIETEST_DBFS = -41;
/** -45 dBFS: what is quieter does not count as speech. */
const AUDIBLE = 32_768 * 10 ** (-45 / 20);
/** High-pass of first order at 200 Hz: hum and most of brown noise lie below. */
const HIGH_PASS = 1 / (1 + (2 * Math.PI * 200) / RATE);

export interface GatedFrame {
  /** Louder than the noise of the line. */
  readonly isActive: boolean;
  /** Milliseconds from the frame's start to the end of its last audible sample; 0 if there is none. Beside noise, of the frame. */
  readonly audibleMs: number;
  /** Milliseconds from the frame's start to the end of its last sample above -45 dBFS, speech or noise; 0 if there is none. */
  readonly sampleMs: number;
  /** Too quiet for audible noise. */
  readonly isQuiet: boolean;
}

/** Tells the caller's speech from the noise of the line, frame by frame. */
export class SpeechGate {
  /** Levels of the last frames, and how many of them there are of each half decibel. */
  private readonly recent: number[] = [];
  private readonly counts = new Uint16Array(1 - 2 * LOWEST);
  /** Loudest frame of each of the last seconds, and of the present one. */
  private readonly seconds: number[] = [];
  private loudest = LOWEST;
  private frames = 0;
  private lastIn = 0;
  private lastOut = 0;

  pass(frame: Int16Array): GatedFrame {
    const level = this.levelOf(frame);
    const index = Math.round(2 * (level - LOWEST));
    this.recent.push(index);
    this.counts[index]! += 1;
    if (this.recent.length > FLOOR_WINDOW) this.counts[this.recent.shift()!]! -= 1;
    const floor = this.floorDbfs();
    const quietest = this.quietestSecond(level);
    const isActive = level > Math.max(LEAST_DBFS, floor + OVER_FLOOR_DB, quietest + OVER_QUIETEST_DB);
    const isNoisy = Math.max(floor, quietest) > NOISY_DBFS;
    const sampleMs = endOfSound(frame);
    const audibleMs = isNoisy ? (isActive ? FRAME_MS : 0) : sampleMs;
    return { isActive, audibleMs, sampleMs, isQuiet: level <= NOISY_DBFS };
  }

  /** The level that a tenth of the last frames do not reach: speech has more pauses than that. */
  private floorDbfs(): number {
    const wanted = this.recent.length * FLOOR_SHARE;
    let seen = 0;
    let index = 0;
    while (index < this.counts.length && seen <= wanted) {
      seen += this.counts[index]!;
      index += 1;
    }
    return (index - 1) / 2 + LOWEST;
  }

  /** Loudest frame of the quietest second. @param level of the present frame */
  private quietestSecond(level: number): number {
    this.loudest = Math.max(this.loudest, level);
    this.frames += 1;
    if (this.frames % SECOND === 0) {
      this.seconds.push(this.loudest);
      if (this.seconds.length > SECONDS) this.seconds.shift();
      this.loudest = LOWEST;
    }
    const quiet = this.seconds.filter((loudest) => loudest <= LOUDEST_QUIET_DBFS);
    return quiet.length > 0 ? Math.min(...quiet) : ASSUMED_QUIETEST_DBFS;
  }

  private levelOf(frame: Int16Array): number {
    let sum = 0;
    for (const sample of frame) {
      this.lastOut = HIGH_PASS * (this.lastOut + sample - this.lastIn);
      this.lastIn = sample;
      sum += this.lastOut ** 2;
    }
    const level = 10 * Math.log10(sum / frame.length / 32_768 ** 2 + 1e-12);
    return Math.min(0, Math.max(LOWEST, level));
  }
}

function endOfSound(frame: Int16Array): number {
  let index = frame.length;
  while (index > 0 && Math.abs(frame[index - 1]!) < AUDIBLE) index -= 1;
  return (index * 1_000) / RATE;
}
