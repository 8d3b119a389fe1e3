import type { Clock } from './clock.js';

/**
 * Time on a call, in milliseconds from the answer. It stands still while the tester thinks of its next line on a line
 * that waits for it anyway: the tester's own time is nobody's silence and no part of the call's length.
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

  /** The call's time at a moment of the clock. */
  at(moment: number): number {
    return Math.min(moment, this.pausedSince ?? moment) - this.answered - this.excluded;
  }

  /** Stops the call's time for as long as the work takes. */
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
