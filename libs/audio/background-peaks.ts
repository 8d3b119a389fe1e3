import { FRAME_MS } from './rates.js';

/** This many short sounds, this long after the voice, are the peaks of background audio. */
const LEAST = 3;
const AFTER_VOICE = 500 / FRAME_MS;

/** Finds background audio that is below the gate but for peaks which are too short to open it. */
export class BackgroundPeaks {
  private closedFrames = 0;
  private peakFrames = 0;
  private peaks = 0;

  /** @param gate after it took a frame @returns whether the frame follows a peak, and enough have been heard */
  push({ isOpen, isOnsetPending }: { readonly isOpen: boolean; readonly isOnsetPending: boolean }): boolean {
    if (isOpen) {
      this.closedFrames = this.peakFrames = 0;
      return false;
    }
    if (isOnsetPending) {
      this.peakFrames++;
      return false;
    }
    const isPeak = this.peakFrames > 0 && this.closedFrames >= AFTER_VOICE;
    if (isPeak) this.peaks++;
    this.peakFrames = 0;
    this.closedFrames++;
    return isPeak && this.peaks >= LEAST;
  }
}
