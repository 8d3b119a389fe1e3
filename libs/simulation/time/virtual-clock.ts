import { type Clock, sleepOn } from './clock.js';

interface Timer {
  readonly time: number;
  /** Timers with the same time fire in the order in which they were set. */
  readonly order: number;
  /** Undefined when cancelled. */
  action: (() => void) | undefined;
}

/**
 * Discrete-event time: stops while any promise callback can run, and jumps to the next timer when all code is waiting. One
 * timer fires at a time, so results do not depend on the machine.
 */
export class VirtualClock implements Clock {
  private readonly timers = new TimerHeap();
  private time = 0;
  private order = 0;
  private externalWaits = 0;
  private isStepDue = false;

  now(): number {
    return this.time;
  }

  schedule(ms: number, action: () => void): () => void {
    const timer: Timer = { time: this.time + Math.max(0, ms), order: this.order++, action };
    this.timers.push(timer);
    this.arm();
    return () => (timer.action = undefined);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  async awaitExternal<T>(work: Promise<T>): Promise<T> {
    this.externalWaits++;
    try {
      return await work;
    } finally {
      this.externalWaits--;
      this.arm();
    }
  }

  /** Virtual time cannot stall. */
  watchStalls(): () => void {
    return () => undefined;
  }

  stallsSince(): readonly [] {
    return [];
  }

  /** An immediate runs after all pending promise callbacks, when all code is waiting. */
  private arm(): void {
    if (this.isStepDue || this.externalWaits > 0 || this.timers.isEmpty) return;
    this.isStepDue = true;
    setImmediate(this.step);
  }

  private readonly step = (): void => {
    this.isStepDue = false;
    if (this.externalWaits > 0) return;
    let timer = this.timers.pop();
    while (timer && !timer.action) timer = this.timers.pop();
    if (!timer) return;
    this.time = timer.time;
    timer.action?.();
    this.arm();
  };
}

/** A binary heap ordered by time. */
class TimerHeap {
  private readonly items: Timer[] = [];

  get isEmpty(): boolean {
    return this.items.length === 0;
  }

  push(timer: Timer): void {
    const { items } = this;
    let index = items.push(timer) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(timer, items[parent]!)) break;
      items[index] = items[parent]!;
      index = parent;
    }
    items[index] = timer;
  }

  pop(): Timer | undefined {
    const { items } = this;
    const first = items[0];
    const last = items.pop();
    if (!last || items.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1]!, items[child]!)) child++;
      if (!isBefore(items[child]!, last)) break;
      items[index] = items[child]!;
      index = child;
    }
    items[index] = last;
    return first;
  }
}

const isBefore = (a: Timer, b: Timer): boolean => a.time < b.time || (a.time === b.time && a.order < b.order);
