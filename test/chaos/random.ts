/** Numbers that a seed decides (mulberry32): what is asked for is the same again, when it arrives is not. */
export class Random {
  constructor(private state: number) {}

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to, but not including, `below`. */
  integer(below: number): number {
    return Math.floor(this.next() * below);
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** One of these, or undefined of none. */
  pick<T>(values: readonly T[]): T | undefined {
    return values[this.integer(values.length)];
  }

  shuffled<T>(values: readonly T[]): T[] {
    const rest = [...values];
    return values.map(() => rest.splice(this.integer(rest.length), 1)[0]!);
  }

  /** Numbers of its own for somebody who draws at moments that nobody can foresee. */
  fork(): Random {
    return new Random(this.integer(2 ** 32));
  }
}
