/** Lets a number of pieces of work run at the same time; of those that wait the urgent first, then in their order. */
export class Limiter {
  private free: number;
  private readonly urgent: (() => void)[] = [];
  private readonly waiting: (() => void)[] = [];

  constructor(places: number) {
    this.free = places;
  }

  async run<T>(work: () => Promise<T>, { isUrgent = false } = {}): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => (isUrgent ? this.urgent : this.waiting).push(resolve));
    try {
      return await work();
    } finally {
      // A place is handed over, so that nobody can take it in between.
      const next = this.urgent.shift() ?? this.waiting.shift();
      if (next) next();
      else this.free++;
    }
  }
}
