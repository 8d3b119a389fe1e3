/** Above this a turn of the event loop is a long one: those that begin take as long then, up to a limit; milliseconds. */
const LONG_MS = 4;
const LONGEST_SLICE_MS = 20;
/** When more wait, they take a millisecond of any turn. */
const CROWD = 100;

/**
 * Lets one after the other begin, each in a turn of the event loop of its own. When a hundred calls speak at the same
 * moment, the first one's answer would otherwise be read only after the requests of the ninety-nine others were prepared,
 * which would count as its agent's latency. Of an event loop that is busy with a thousand calls they take half: single
 * turns were far too few, and what comes in late anyway is at most twice as late.
 */
export class Pacer {
  private waiting: (() => void)[] = [];
  private next = 0;
  private isScheduled = false;
  /** When what comes in had its turn, and until when those that begin have theirs. */
  private since = 0;
  private until = 0;

  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (!this.isScheduled) this.schedule();
    });
  }

  private schedule(): void {
    this.isScheduled = true;
    this.since = performance.now();
    setImmediate(this.begin);
  }

  private readonly begin = (): void => {
    const now = performance.now();
    const away = now - this.since;
    const isCrowd = this.waiting.length - this.next > CROWD;
    this.until = now + (away > LONG_MS ? Math.min(away, LONGEST_SLICE_MS) : isCrowd ? 1 : 0);
    this.step();
  };

  private readonly step = (): void => {
    this.waiting[this.next++]!();
    if (this.next === this.waiting.length) {
      this.waiting = [];
      this.next = 0;
      this.isScheduled = false;
    } else if (performance.now() >= this.until) this.schedule();
    // After all that this one begins at once: ticks come when no promise has anything to do.
    else queueMicrotask(() => process.nextTick(this.step));
  };
}
