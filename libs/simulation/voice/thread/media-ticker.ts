/** Distance of the deadlines in milliseconds: what is due is at most so late, and calls do not all fall on one moment. */
const STEP_MS = 5;

/** @param deadline moment on the grid; what is due at one is done without further delay */
type Tick = (now: number, deadline: number) => void;

/**
 * One timer for all calls of a thread. Its deadlines are absolute, so that lateness does not add up; after a stall everything
 * that is due is done at once. Runs only while there are calls.
 */
export class MediaTicker {
  private readonly ticks = new Set<Tick>();
  private timer: NodeJS.Timeout | undefined;
  private deadline = 0;

  /** @param now monotonic time in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  get size(): number {
    return this.ticks.size;
  }

  /** @param tick must not throw */
  add(tick: Tick): void {
    this.ticks.add(tick);
    if (this.timer === undefined) {
      this.deadline = this.now();
      this.arm();
    }
  }

  delete(tick: Tick): void {
    this.ticks.delete(tick);
    if (this.ticks.size > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private arm(): void {
    const now = this.now();
    // Deadlines that a stall has passed are left out, and the grid is kept.
    this.deadline += STEP_MS * Math.max(1, Math.ceil((now - this.deadline) / STEP_MS));
    // Whole milliseconds, and never too early: what is due at the deadline would wait for the next one.
    this.timer = setTimeout(() => this.tick(), Math.ceil(this.deadline - now));
  }

  private tick(): void {
    for (const tick of this.ticks) tick(this.now(), this.deadline);
    if (this.ticks.size > 0) this.arm();
  }
}
