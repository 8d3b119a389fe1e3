import { dbfs, FRAME_MS } from '../../../audio/index.js';
import type { Line } from '../facts/line.js';

/** Length of the last part of a sound, whose levels show whether it decays. */
const TAIL_MS = 60;
const PART_MS = 20;
/**
 * Speech that ends by itself decays. In 80 sentences of five voices, 4 % ended with less decay than this, but 57 % of cuts at any
 * time did.
 */
const MAX_DECAY_DB = 3;
/** Active speech is at most this far below the level of its sound. */
const ACTIVE_DB = 10;
/** Longer than the silence after which the gate closes plus the tail before it. */
const KEPT_FRAMES = 16;

/** Determines how a sound ended from its frames. The first frame begins at call time 0. */
export class SoundEnds {
  private readonly frames: Int16Array[] = [];
  private heardMs = 0;

  constructor(private readonly line: Line) {}

  /** @param frame 20 ms; must not be changed afterwards */
  push(frame: Int16Array): void {
    this.frames.push(frame);
    if (this.frames.length > KEPT_FRAMES) this.frames.shift();
    this.heardMs += FRAME_MS;
  }

  /**
   * Whether a sound ended in active speech, without a decay.
   * @param endMs after its last active sample @param level of the sound in dBFS
   */
  breaksOff(endMs: number, level: number): boolean {
    const kept = this.line.samplesOf(endMs - (this.heardMs - this.frames.length * FRAME_MS));
    const part = this.line.samplesOf(PART_MS);
    const start = kept - this.line.samplesOf(TAIL_MS);
    if (start < 0) return false;
    const parts = [0, 1, 2].map((n) => dbfs(this.between(start + n * part, start + (n + 1) * part)));
    const last = parts[2]!;
    return last >= level - ACTIVE_DB && last >= Math.max(...parts) - MAX_DECAY_DB;
  }

  /** @param from index in the kept frames */
  private between(from: number, to: number): Int16Array {
    const { frameSamples } = this.line;
    return Int16Array.from({ length: to - from }, (_, n) => {
      const position = from + n;
      return this.frames[Math.floor(position / frameSamples)]?.[position % frameSamples] ?? 0;
    });
  }
}
