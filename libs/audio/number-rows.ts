const FIRST_CAPACITY = 16;

/** Rows of numbers in a growing typed array of 8 bytes per number. */
export class NumberRows {
  private values: Float64Array;
  private count = 0;

  constructor(private readonly columns: number) {
    this.values = new Float64Array(columns * FIRST_CAPACITY);
  }

  get length(): number {
    return this.count;
  }

  /** Memory use in bytes. */
  get bytes(): number {
    return this.values.byteLength;
  }

  push(...row: readonly number[]): void {
    const at = this.columns * this.count;
    if (at === this.values.length) {
      const grown = new Float64Array(this.columns * Math.ceil((this.count * 5) / 4));
      grown.set(this.values);
      this.values = grown;
    }
    this.values.set(row, at);
    this.count++;
  }

  map<T>(each: (...row: number[]) => T): T[] {
    const { columns, values } = this;
    return Array.from({ length: this.count }, (_, row) => each(...values.subarray(columns * row, columns * (row + 1))));
  }
}
