/** So many may wait, and begin one in each turn of the event loop. */
const CROWD = 100;
/** When more wait, they may take as long as what came in took; at least and at most, in milliseconds. */
const SLICE_MS = { least: 1, most: 20 };

/**
 * Lets one after the other begin, each in a turn of the event loop of its own. When a hundred calls speak at the same
 * moment, the first one's answer would otherwise be read only after the requests of the ninety-nine others were prepared,
 * which would count as its agent's latency. When hundreds wait, latencies suffer from their number anyway, and they take
 * half of the event loop: of one that is busy with a thousand calls, single turns were far too few.
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
    const isCrowd = this.waiting.length - this.next > CROWD;
    this.until = now + (isCrowd ? Math.min(Math.max(now - this.since, SLICE_MS.least), SLICE_MS.most) : 0);
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
