/** Limits how many tasks run at the same time. Urgent tasks run first, all others in order of arrival. */
export class PrioritySemaphore {
  private free: number;
  private readonly urgent: (() => void)[] = [];
  private readonly waiting: (() => void)[] = [];

  constructor(permits: number) {
    this.free = permits;
  }

  async run<T>(task: () => Promise<T>, { isUrgent = false } = {}): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => (isUrgent ? this.urgent : this.waiting).push(resolve));
    try {
      return await task();
    } finally {
      // The permit is handed over directly, so that no newcomer can take it in between.
      const next = this.urgent.shift() ?? this.waiting.shift();
      if (next) next();
      else this.free++;
    }
  }
}
