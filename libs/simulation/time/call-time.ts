import type { Clock } from './clock.js';
import type { Stall } from './stalls.js';

interface Pause {
  /** Clock times. */
  readonly start: number;
  readonly end: number;
  /** Duration of this pause and all earlier ones. */
  readonly total: number;
}

/**
 * The time of a call, in milliseconds since it was answered. It stops while the tester
 * chooses its next line and connects: that time is neither silence nor part of the call's duration.
 */
export class CallTime {
  private readonly answered: number;
  private readonly pauses: Pause[] = [];
  private pausedSince: number | undefined;

  constructor(private readonly clock: Clock) {
    this.answered = clock.now();
  }

  now(): number {
    return this.at(this.clock.now());
  }

  /** Converts a clock time to call time; 0 before the answer. */
  at(moment: number): number {
    // Rounding errors of the excluded spans must not lead to times just below 0.
    return Math.max(0, this.running(moment));
  }

  private running(moment: number): number {
    const until = Math.min(moment, this.pausedSince ?? moment);
    for (let index = this.pauses.length - 1; index >= 0; index--) {
      const { start, end, total } = this.pauses[index]!;
      if (until >= end) return until - this.answered - total;
      if (until >= start) return end - this.answered - total;
    }
    return until - this.answered;
  }

  /** Stops the call's time while `work` runs. */
  async pause<T>(work: () => Promise<T>): Promise<T> {
    const since = this.clock.now();
    this.pausedSince = since;
    try {
      return await work();
    } finally {
      this.pausedSince = undefined;
      this.exclude(since, this.clock.now());
    }
  }

  /** Excludes a span of clock time, which must be later than all that are excluded already. */
  exclude(start: number, end: number): void {
    if (end <= start) return;
    this.pauses.push({ start, end, total: (this.pauses.at(-1)?.total ?? 0) + end - start });
  }

  /** The stalls of the tester during the call, in call time. @param ofOthers of other threads that take times of the call */
  stalls(ofOthers: readonly Stall[] = []): Stall[] {
    return united([...this.clock.stallsSince(this.answered), ...ofOthers]).flatMap((stall) => {
      const [start, end] = [this.at(stall.start), this.at(stall.end)];
      return end > start ? [{ start, end }] : [];
    });
  }
}

/** In order, without overlaps. */
function united(stalls: readonly Stall[]): Stall[] {
  const all: Stall[] = [];
  for (const stall of stalls.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last && stall.start <= last.end) all[all.length - 1] = { ...last, end: Math.max(last.end, stall.end) };
    else all.push(stall);
  }
  return all;
}
