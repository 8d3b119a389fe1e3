/**
 * The one source of time on a call. Tests and dry runs replace it by a `VirtualClock`, on which a call takes no time.
 */
export interface Clock {
  /** Milliseconds, with fractions, since some fixed moment; never goes back. */
  now(): number;
  /** Calls `action` once after so many milliseconds, unless the returned function is called before. */
  schedule(ms: number, action: () => void): () => void;
  /** Resolves after so many milliseconds; rejects with the signal's reason as soon as that is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Waits for something that does not happen on this clock, as network traffic does: virtual time stands still then. */
  awaitExternal<T>(work: Promise<T>): Promise<T>;
}

/** The time of this computer. */
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
}

/** `Clock.sleep` by means of `Clock.schedule`. */
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
