import { performance } from 'node:perf_hooks';

/** So much of the time that this process works for a turn of a call lies between two that begin. */
const SHARE = 0.8;
/** Until that is known, and at most; milliseconds. */
const FIRST_SPACING_MS = 0.3;
const LONGEST_SPACING_MS = 0.5;
/** So many turns show what one takes. */
const SAMPLE = 200;
/** What was missed because the event loop was away is made up for, up to here; and so long they begin without a pause. */
const LONGEST_SLICE_MS = 20;

/**
 * Lets turns of calls begin no faster than this process can carry them out. When a hundred callers speak at the same
 * moment, the first one's answer would otherwise be read only after the requests of the ninety-nine others were prepared,
 * which would count as its agent's latency; and an agent that needs the same time for each would answer them all at the
 * same moment again, turn after turn (decision 61).
 */
export class Pacer {
  private waiting: (() => void)[] = [];
  private next = 0;
  private isScheduled = false;
  /** From when the next one may begin, and until when they may go on. */
  private from = 0;
  private until = 0;
  private spacing = FIRST_SPACING_MS;
  private begun = 0;
  private sampledAt = performance.eventLoopUtilization();

  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (this.isScheduled) return;
      this.isScheduled = true;
      this.from = Math.max(this.from, performance.now());
      setImmediate(this.begin);
    });
  }

  private readonly begin = (): void => {
    const now = performance.now();
    if (now < this.from) return void setTimeout(this.begin, 1);
    this.from = Math.max(this.from, now - LONGEST_SLICE_MS);
    this.until = now + LONGEST_SLICE_MS;
    this.step();
  };

  private readonly step = (): void => {
    this.waiting[this.next++]!();
    this.from += this.spacing;
    if (++this.begun === SAMPLE) this.sample();
    if (this.next === this.waiting.length) {
      this.waiting = [];
      this.next = 0;
      this.isScheduled = false;
      return;
    }
    const now = performance.now();
    // After all that this one begins at once: ticks come when no promise has anything to do.
    if (now >= this.from && now < this.until) queueMicrotask(() => process.nextTick(this.step));
    else setImmediate(this.begin);
  };

  private sample(): void {
    const current = performance.eventLoopUtilization();
    const { active } = performance.eventLoopUtilization(current, this.sampledAt);
    this.spacing = Math.min((SHARE * active) / this.begun, LONGEST_SPACING_MS);
    this.sampledAt = current;
    this.begun = 0;
  }
}
