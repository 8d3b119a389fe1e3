/** Runs tasks, one or a few at a time; owners take turns, so that one with many tasks delays another by one at most. */
export class FairQueue {
  /** In the order in which the owners have their turn. */
  private readonly waiting = new Map<string, (() => Promise<void>)[]>();
  private running = 0;

  /** @param concurrency most tasks at a time */
  constructor(private readonly concurrency = 1) {}

  /** @throws what the task throws */
  run<Result>(owner: string, task: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const tasks = this.waiting.get(owner) ?? [];
      tasks.push(() => task().then(resolve, reject));
      this.waiting.set(owner, tasks);
      if (this.running < this.concurrency) void this.runAll();
    });
  }

  private async runAll(): Promise<void> {
    this.running++;
    for (let task = this.next(); task; task = this.next()) await task();
    this.running--;
  }

  private next(): (() => Promise<void>) | undefined {
    for (const [owner, tasks] of this.waiting) {
      const task = tasks.shift();
      this.waiting.delete(owner);
      if (tasks.length > 0) this.waiting.set(owner, tasks);
      return task;
    }
    return undefined;
  }
}
