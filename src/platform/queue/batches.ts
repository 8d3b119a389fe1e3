export interface BatchOptions<Item, Result> {
  /** @returns the items' results in their order */
  readonly carryOut: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Whether an error may be one item's alone, so that each is carried out by itself. */
  readonly mayDivide?: (error: unknown) => boolean;
  /** So many items in one at most. */
  readonly size: number;
  /** And, if that matters, of so much weight together; one alone may be heavier. */
  readonly weight?: { readonly of: (item: Item) => number; readonly most: number };
  /** So many batches at a time; one unless given. */
  readonly atOnce?: number;
  /** Told when nothing is under way or waits. */
  readonly onIdle?: () => void;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Carries out together what is asked for while the database is busy with what was asked for before ("group commit"):
 * what comes alone waits for nothing, and of a thousand at once most share a round trip, a transaction and its locks.
 */
export class Batches<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private underWay = 0;

  constructor(private readonly options: BatchOptions<Item, Result>) {}

  /** @throws what carrying it out throws */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.underWay === (this.options.atOnce ?? 1)) return;
      this.underWay++;
      // What others ask for in the same turn of the event loop comes along.
      setImmediate(() => void this.work());
    });
  }

  private async work(): Promise<void> {
    while (this.waiting.length > 0) {
      await this.settle(this.waiting.splice(0, this.nextCount()));
    }
    if (--this.underWay === 0) this.options.onIdle?.();
  }

  private nextCount(): number {
    const { size, weight } = this.options;
    let sum = 0;
    const tooHeavy = weight
      ? this.waiting.slice(0, size).findIndex(({ item }) => (sum += weight.of(item)) > weight.most)
      : -1;
    return tooHeavy === -1 ? size : Math.max(1, tooHeavy);
  }

  private async settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.options.carryOut(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(results[index]!));
    } catch (error) {
      if (batch.length > 1 && this.options.mayDivide?.(error)) for (const one of batch) await this.settle([one]);
      else for (const { reject } of batch) reject(error);
    }
  }
}
