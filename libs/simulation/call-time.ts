import type { Clock } from './clock.js';

/**
 * The time of a call, in milliseconds since it was answered. On a transport without duplex it stops while the tester
 * chooses its next line: that time is neither silence nor part of the call's duration.
 */
export class CallTime {
  private readonly answered: number;
  private excluded = 0;
  private pausedSince: number | undefined;

  constructor(private readonly clock: Clock) {
    this.answered = clock.now();
  }

  now(): number {
    return this.at(this.clock.now());
  }

  /** Converts a clock time to call time. */
  at(moment: number): number {
    return Math.min(moment, this.pausedSince ?? moment) - this.answered - this.excluded;
  }

  /** Stops the call's time while `work` runs. */
  async pause<T>(work: () => Promise<T>): Promise<T> {
    const since = this.clock.now();
    this.pausedSince = since;
    try {
      return await work();
    } finally {
      this.pausedSince = undefined;
      this.excluded += this.clock.now() - since;
    }
  }
}
