interface RunOptions {
  readonly isUrgent?: boolean;
  readonly signal?: AbortSignal;
}

/** Limits how many tasks run at the same time. Urgent tasks run first, all others in order of arrival. */
export class PrioritySemaphore {
  private free: number;
  private readonly urgent: (() => void)[] = [];
  private readonly waiting: (() => void)[] = [];

  constructor(permits: number) {
    this.free = permits;
  }

  /**
   * @param signal ends the wait of a task that has not begun
   * @throws the signal's reason, or whatever the task throws
   */
  async run<T>(task: () => Promise<T>, { isUrgent = false, signal }: RunOptions = {}): Promise<T> {
    signal?.throwIfAborted();
    if (this.free > 0) this.free--;
    else await this.turn(isUrgent ? this.urgent : this.waiting, signal);
    try {
      return await task();
    } finally {
      // The permit is handed over directly, so that no newcomer can take it in between.
      const next = this.urgent.shift() ?? this.waiting.shift();
      if (next) next();
      else this.free++;
    }
  }

  private turn(queue: (() => void)[], signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        queue.splice(queue.indexOf(begin), 1);
        reject(signal?.reason as Error);
      };
      queue.push(begin);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }
}
