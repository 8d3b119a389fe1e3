import { FRAME_MS } from './rates.js';

/** Background audio is known from this many peaks on. */
const MIN_PEAKS = 3;
/** A short sound is a peak only if it comes at least this long after the voice; in frames. */
const AFTER_VOICE = 500 / FRAME_MS;
/** If a sound follows a peak within this time, the peak is its beginning, such as the voicing before a consonant; in frames. */
const BEFORE_VOICE = 300 / FRAME_MS;

/** Finds background audio that stays below the gate, except for peaks too short to open it. */
export class BackgroundPeaks {
  private closedFrames = 0;
  private peakFrames = 0;
  private peaks = 0;
  /** Frames since the latest peak, while that may still be the beginning of a sound; null without one. */
  private sincePeak: number | null = null;

  /**
   * @param gate after it has taken a frame
   * @returns how many frames ago the peak ended that is now confirmed, if enough peaks were heard; else null
   */
  push({ isOpen, isOnsetPending }: { readonly isOpen: boolean; readonly isOnsetPending: boolean }): number | null {
    if (this.sincePeak !== null) this.sincePeak++;
    if (isOpen) {
      this.closedFrames = this.peakFrames = 0;
      this.sincePeak = null;
      return null;
    }
    if (isOnsetPending) {
      this.peakFrames++;
      return null;
    }
    const isPeak = this.peakFrames > 0 && this.closedFrames >= AFTER_VOICE;
    const before = this.sincePeak;
    const isKnown = before !== null && (isPeak || before >= BEFORE_VOICE);
    if (isKnown) this.peaks++;
    if (isPeak) this.sincePeak = 0;
    else if (isKnown) this.sincePeak = null;
    this.peakFrames = 0;
    this.closedFrames++;
    return isKnown && this.peaks >= MIN_PEAKS ? before : null;
  }
}
