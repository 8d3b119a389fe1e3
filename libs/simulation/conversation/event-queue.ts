import type { Clock } from '../time/clock.js';

/** A queue with one consumer that can wait for the next item. */
export class EventQueue<T> {
  private readonly items: T[] = [];
  private wake: (() => void) | undefined;

  push(item: T): void {
    this.items.push(item);
    this.wake?.();
  }

  /** The next item, if there is one already. */
  poll(): T | undefined {
    return this.items.shift();
  }

  /** Waits up to `ms` milliseconds for the next item; undefined when there is none. */
  async next(clock: Clock, ms: number): Promise<T | undefined> {
    if (this.items.length === 0 && ms > 0) {
      await new Promise<void>((resolve) => {
        const cancel = clock.schedule(ms, resolve);
        this.wake = () => {
          cancel();
          resolve();
        };
      });
      this.wake = undefined;
    }
    return this.items.shift();
  }
}
