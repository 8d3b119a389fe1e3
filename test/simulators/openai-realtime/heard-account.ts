/** Where the agent was cut off: what the client reported, and what the agent computed itself. */
export interface Truncation {
  readonly itemId: string;
  /** As the client reported it. */
  readonly audioEndMs: number;
  /** How much of the item was heard, as `HeardAccount` computed it. */
  readonly heardMs: number;
}

interface Part {
  readonly fromMs: number;
  toMs: number;
}

/**
 * Computes what the client has played of each item, from the sizes of the deltas and the times at which they and the
 * truncations passed the client's end of the connection. It does not use what the client reports.
 */
export class HeardAccount {
  private readonly items = new Map<string, Part[]>();
  /** When the client has played everything. */
  private endMs = -Infinity;

  /** A delta has arrived at the client. @param ms length of its audio */
  delta(now: number, itemId: string, ms: number): void {
    const fromMs = Math.max(now, this.endMs);
    this.endMs = fromMs + ms;
    const parts = this.items.get(itemId) ?? [];
    parts.push({ fromMs, toMs: this.endMs });
    this.items.set(itemId, parts);
  }

  /** The client has dropped what it had not played. @returns milliseconds of an item that it has played */
  cut(now: number, itemId: string): number {
    for (const part of [...this.items.values()].flat()) part.toMs = Math.min(part.toMs, Math.max(part.fromMs, now));
    this.endMs = Math.min(this.endMs, now);
    return (this.items.get(itemId) ?? []).reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  }

  /** Whether audio of an item was sent. */
  has(itemId: string): boolean {
    return this.items.has(itemId);
  }
}
