/** Seeded pseudo-random numbers (mulberry32). */
export class Random {
  constructor(private state: number) {}

  /** A number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from 0 (inclusive) to `below` (exclusive). */
  integer(below: number): number {
    return Math.floor(this.next() * below);
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** A random element, or undefined if there is none. */
  pick<T>(values: readonly T[]): T | undefined {
    return values[this.integer(values.length)];
  }

  shuffled<T>(values: readonly T[]): T[] {
    const rest = [...values];
    return values.map(() => rest.splice(this.integer(rest.length), 1)[0]!);
  }

  /** An independent generator, for a user that draws at unpredictable times. */
  fork(): Random {
    return new Random(this.integer(2 ** 32));
  }
}
