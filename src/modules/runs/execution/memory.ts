interface Entry<T> {
  readonly value: Promise<T>;
  readonly until: number;
}

/** Remembers what was looked up, the most recently used, for a while. What failed is looked up anew. */
export class Memory<T> {
  private readonly entries = new Map<string, Entry<T>>();
  private readonly size: number;
  private readonly lifetimeMs: number;

  constructor({ size, lifetimeMs = Infinity }: { size: number; lifetimeMs?: number }) {
    this.size = size;
    this.lifetimeMs = lifetimeMs;
  }

  async get(key: string, lookUp: () => Promise<T>): Promise<T> {
    const known = this.entries.get(key);
    // Taken out and put in again: a map keeps the order in which its entries came.
    this.entries.delete(key);
    const now = performance.now();
    const entry = known && known.until > now ? known : { value: lookUp(), until: now + this.lifetimeMs };
    this.entries.set(key, entry);
    const [oldest] = this.entries.keys();
    if (this.entries.size > this.size && oldest !== undefined) this.entries.delete(oldest);
    try {
      return await entry.value;
    } catch (error) {
      if (this.entries.get(key) === entry) this.entries.delete(key);
      throw error;
    }
  }
}
