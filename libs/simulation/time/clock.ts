import { type Stall, StallMonitor } from './stalls.js';

/** The only source of time on a call. Tests replace it with a `VirtualClock`, on which a call takes no time. */
export interface Clock {
  /** Milliseconds with fractions since an arbitrary moment; monotonic. */
  now(): number;
  /** Calls `action` once after `ms` milliseconds. @returns a function that cancels it */
  schedule(ms: number, action: () => void): () => void;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Waits for something that does not run on this clock, such as the network; virtual time stops during the wait. */
  awaitExternal<T>(work: Promise<T>): Promise<T>;
  /** Detects stalls until the returned function is called. */
  watchStalls(): () => void;
  /** The stalls since a time of this clock, while they were watched. */
  stallsSince(time: number): readonly Stall[];
}

/** One per process, because all calls share its event loop. */
const monitor = new StallMonitor();

/** Real time. */
export class RealClock implements Clock {
  now(): number {
    return performance.now();
  }

  schedule(ms: number, action: () => void): () => void {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  awaitExternal<T>(work: Promise<T>): Promise<T> {
    return work;
  }

  watchStalls(): () => void {
    return monitor.watch();
  }

  stallsSince(time: number): readonly Stall[] {
    return monitor.since(time);
  }
}

/** Implements `Clock.sleep` with `Clock.schedule`. */
export function sleepOn(clock: Pick<Clock, 'schedule'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const abort = () => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = clock.schedule(ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    signal?.addEventListener('abort', abort, { once: true });
  });
}
