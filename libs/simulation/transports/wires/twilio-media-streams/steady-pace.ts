/** Bytes that the line plays in a millisecond. */
const LINE_PACE = 8;
/** Rates that are in use, as multiples of 8 kHz; 6 is also 24 kHz in 16 bits. */
const MULTIPLES = [2, 3, 4, 6];
const TOLERANCE = 0.05;
/**
 * A steady pace lasts at least this many messages and milliseconds. A shorter one is not evidence: the timer of a healthy agent
 * that sends five times as fast as real time may be late on a busy machine, so that its pace is four times.
 */
const MESSAGES = 75;
const MIN_MS = 3_000;
/** Intervals of a timer lie around its period; messages that are sent at once lie close together. */
const MIN_INTERVAL_MS = 5;
/** A longer time between two messages ends what was steady. */
const MAX_INTERVAL_MS = 500;

/**
 * Recognises sound that is sent in real time at the rate of another line: messages of the same length, each a timer's period
 * after the one before, that together last 2, 3, 4 or 6 times as long as their sending took. An agent that sends faster than
 * real time on purpose sends at once, or at a pace that is not such a multiple.
 */
export class SteadyPace {
  private length = 0;
  private startedAt = 0;
  private lastAt = 0;
  private count = 0;
  private regular = 0;

  /** Adds a message. @returns whether it completes a steady sequence that is too fast */
  isTooFast(now: number, length: number): boolean {
    const interval = now - this.lastAt;
    if (length !== this.length || interval > MAX_INTERVAL_MS || this.count === 0) {
      this.begin(now, length);
      return false;
    }
    this.lastAt = now;
    this.count++;
    if (interval >= MIN_INTERVAL_MS) this.regular++;
    const elapsed = now - this.startedAt;
    if (this.count < MESSAGES || elapsed < MIN_MS) return false;
    const multiple = (length * (this.count - 1)) / elapsed / LINE_PACE;
    // Most messages must follow a timer: bursts may have any mean.
    const isRegular = this.regular >= 0.8 * (this.count - 1);
    this.begin(now, length);
    return isRegular && MULTIPLES.some((known) => Math.abs(multiple / known - 1) <= TOLERANCE);
  }

  private begin(now: number, length: number): void {
    this.length = length;
    this.startedAt = this.lastAt = now;
    this.count = 1;
    this.regular = 0;
  }
}
