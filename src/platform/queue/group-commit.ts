import { isDatabaseUnavailable } from '../database/failures.js';

export interface GroupCommitOptions<Item, Result> {
  /** @returns the results of the items, in their order */
  readonly execute: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** The largest number of items in one batch. */
  readonly maxItems: number;
  /** Limits the total size of a batch too, for instance in bytes. A larger item is a batch of its own. */
  readonly size?: { readonly of: (item: Item) => number; readonly max: number };
  /** Batches that run at the same time; 1 unless given. */
  readonly concurrency?: number;
}

interface Pending<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: items that arrive while a batch is running form the next batch. A single item does not wait, and of a
 * thousand at once most share a round trip, a transaction and its locks.
 *
 * When a batch fails although the database is available, its items are executed one by one, so that an invalid item
 * fails alone.
 */
export class GroupCommit<Item, Result> {
  private pending: Pending<Item, Result>[] = [];
  private running = 0;

  constructor(private readonly options: GroupCommitOptions<Item, Result>) {}

  /** @throws the error of `execute` */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.pending.push({ item, resolve, reject });
      if (this.running === (this.options.concurrency ?? 1)) return;
      this.running++;
      // The batch includes items that are added in the same turn of the event loop.
      setImmediate(() => void this.work());
    });
  }

  private async work(): Promise<void> {
    while (this.pending.length > 0) await this.settle(this.pending.splice(0, this.nextCount()));
    this.running--;
  }

  private nextCount(): number {
    const { maxItems, size } = this.options;
    if (!size) return maxItems;
    let total = 0;
    const tooLarge = this.pending.slice(0, maxItems).findIndex(({ item }) => (total += size.of(item)) > size.max);
    return tooLarge === -1 ? maxItems : Math.max(1, tooLarge);
  }

  private async settle(batch: readonly Pending<Item, Result>[]): Promise<void> {
    try {
      const results = await this.options.execute(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(results[index]!));
    } catch (error) {
      if (batch.length > 1 && !isDatabaseUnavailable(error)) for (const one of batch) await this.settle([one]);
      else for (const { reject } of batch) reject(error);
    }
  }
}
