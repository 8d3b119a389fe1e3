const TIMES = 2;
const POSITIONS = 3;
const BYTES = TIMES * 8 + POSITIONS * 4;
const FIRST_CAPACITY = 64;

/** An arrival in samples from the start of the buffer. */
export interface ArrivalRow {
  readonly arrivedMs: number;
  readonly from: number;
  readonly to: number;
  /** Number of samples that arrived. */
  readonly length: number;
  /** NaN if none was given. */
  readonly item: number;
}

/** Arrivals in growing typed arrays, 28 bytes each: a call of an hour may have hundreds of thousands. */
export class ArrivalTable {
  private times = new Float64Array(TIMES * FIRST_CAPACITY);
  private positions = new Uint32Array(POSITIONS * FIRST_CAPACITY);
  private count = 0;

  get length(): number {
    return this.count;
  }

  /** Memory use in bytes. */
  get bytes(): number {
    return this.times.byteLength + this.positions.byteLength;
  }

  push({ arrivedMs, from, to, length, item }: ArrivalRow): void {
    if (this.count * BYTES === this.bytes) this.grow();
    this.times.set([arrivedMs, item], TIMES * this.count);
    this.positions.set([from, to, length], POSITIONS * this.count);
    this.count++;
  }

  arrivedMs(row: number): number {
    return this.times[TIMES * row]!;
  }

  item(row: number): number {
    return this.times[TIMES * row + 1]!;
  }

  from(row: number): number {
    return this.positions[POSITIONS * row]!;
  }

  to(row: number): number {
    return this.positions[POSITIONS * row + 1]!;
  }

  samples(row: number): number {
    return this.positions[POSITIONS * row + 2]!;
  }

  /** Changes the span in which an arrival is played. */
  move(row: number, from: number, to: number): void {
    this.positions[POSITIONS * row] = from;
    this.positions[POSITIONS * row + 1] = to;
  }

  /** Adds samples to the last arrival. @param length number of samples @param to new end of its playout */
  extend(to: number, length: number): void {
    const row = POSITIONS * (this.count - 1);
    this.positions[row + 1] = to;
    this.positions[row + 2] = this.positions[row + 2]! + length;
  }

  /** First row that ends after a position. */
  firstAfter(position: number): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.to(middle) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private grow(): void {
    const capacity = Math.ceil((this.count * 5) / 4);
    const [times, positions] = [new Float64Array(TIMES * capacity), new Uint32Array(POSITIONS * capacity)];
    times.set(this.times);
    positions.set(this.positions);
    this.times = times;
    this.positions = positions;
  }
}
