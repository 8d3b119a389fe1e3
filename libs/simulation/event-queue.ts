import type { Clock } from './clock.js';

/** Hands on what comes in to whoever waits for it; what nobody waits for is kept. */
export class EventQueue<T> {
  private readonly items: T[] = [];
  private wake: (() => void) | undefined;

  push(item: T): void {
    this.items.push(item);
    this.wake?.();
  }

  /** What has come in already. */
  poll(): T | undefined {
    return this.items.shift();
  }

  /** The next item, or undefined when none came within so many milliseconds. */
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
