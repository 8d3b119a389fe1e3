import { SEND_LIMITS } from '../../other-side/send-limits.js';

interface Limit {
  /** What may be used at once. */
  readonly sizeMs: number;
  /** What is added, as a share of the time that passes. */
  readonly share: number;
}

export interface ReadingLimits {
  readonly each: Limit;
  readonly all: Limit;
}

/** How often it is checked whether a connection may go on. */
const CHECK_MS = 20;

/**
 * Time to use, in milliseconds; below 0 if more was used, but by no more than its size: the machine may have been stopped while
 * a message was handled.
 */
class Allowance {
  private ms: number;

  constructor(
    private readonly limit: Limit,
    private at: number,
  ) {
    this.ms = limit.sizeMs;
  }

  left(now: number): number {
    this.ms = Math.min(this.limit.sizeMs, this.ms + Math.max(0, now - this.at) * this.limit.share);
    this.at = now;
    return this.ms;
  }

  take(now: number, ms: number): void {
    this.ms = Math.max(-this.limit.sizeMs, this.left(now) - ms);
  }
}

/** What one connection uses. */
export interface ReadingAccount {
  /** @param ms that the thread spent on what the connection delivered */
  use(ms: number): void;
  /** Whether it should not be read: what it used last went beyond its own time, and that of all is used up. */
  readonly isOverdrawn: boolean;
  /** @param goOn called when it may be read again */
  wait(goOn: () => void): void;
}

/**
 * How long a thread works for what agents send. Each connection has time of its own; what it uses beyond is taken from the
 * time of all. When both are used up it waits. Those that wait go on one after the other, so that many floods delay what else
 * the thread does as little as one.
 */
export class ReadingTime {
  private readonly all: Allowance;
  private readonly waiting: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;

  /** @param now monotonic time in milliseconds */
  constructor(
    private readonly limits: ReadingLimits = SEND_LIMITS.reading,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.all = new Allowance(limits.all, now());
  }

  account(): ReadingAccount {
    const { all, now } = this;
    const own = new Allowance(this.limits.each, now());
    let isBeyond = false;
    return {
      use: (ms) => {
        const at = now();
        const within = Math.min(ms, Math.max(0, own.left(at)));
        own.take(at, within);
        isBeyond = within < ms;
        if (isBeyond) all.take(at, ms - within);
      },
      get isOverdrawn() {
        return isBeyond && all.left(now()) < 0;
      },
      wait: (goOn) => this.wait(goOn),
    };
  }

  private wait(goOn: () => void): void {
    this.waiting.push(goOn);
    this.timer ??= setInterval(() => this.check(), CHECK_MS).unref();
  }

  private check(): void {
    if (this.all.left(this.now()) >= 0) this.waiting.shift()?.();
    if (this.waiting.length > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
