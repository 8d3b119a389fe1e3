export interface KeyedQueueOptions {
  /** Maximum number of tasks of one key that wait. */
  readonly maxWaiting: number;
}

/** Too many tasks of the key are waiting. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
}

/** Runs one task per key at a time, the others of that key in order of arrival. */
export class KeyedQueue {
  /** Waiting tasks of the keys that have a running one. */
  private readonly waiting = new Map<string, (() => void)[]>();

  constructor(private readonly options: KeyedQueueOptions) {}

  /**
   * @param signal removes the task while it waits
   * @throws QueueFull; the signal's reason
   */
  async run<T>(key: string, task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.enter(key, signal);
    try {
      return await task();
    } finally {
      const next = this.waiting.get(key)?.shift();
      if (next) next();
      else this.waiting.delete(key);
    }
  }

  private enter(key: string, signal: AbortSignal): Promise<void> {
    const waiting = this.waiting.get(key);
    if (!waiting) {
      this.waiting.set(key, []);
      return Promise.resolve();
    }
    if (waiting.length >= this.options.maxWaiting) throw new QueueFull();
    return new Promise((resolve, reject) => {
      const abort = () => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(signal.reason as Error);
      };
      const start = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      if (signal.aborted) return reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      waiting.push(start);
    });
  }
}
