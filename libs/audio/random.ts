/**
 * Seeded random numbers (sfc32 by Chris Doty-Humphrey): the same seed and stream give the same numbers everywhere. Not for
 * secrets.
 */
export class Random {
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;
  private spare: number | undefined;

  /**
   * @param seed any number; only the lower 32 bits of its integer part count
   * @param stream different streams of one seed are independent sequences
   */
  constructor(seed: number, stream = '') {
    this.a = seed | 0;
    this.b = hash(stream);
    this.c = 0x9e3779b9 | 0;
    for (let n = 0; n < 15; n++) this.next32();
  }

  /** In [0, 1). */
  next(): number {
    return (this.next32() >>> 0) / 4_294_967_296;
  }

  /** In [from, to). */
  between(from: number, to: number): number {
    return from + (to - from) * this.next();
  }

  /** Normally distributed with mean 0 and variance 1 (polar method). */
  gaussian(): number {
    if (this.spare !== undefined) {
      const spare = this.spare;
      this.spare = undefined;
      return spare;
    }
    for (;;) {
      const x = 2 * this.next() - 1;
      const y = 2 * this.next() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const factor = Math.sqrt((-2 * Math.log(square)) / square);
      this.spare = y * factor;
      return x * factor;
    }
  }

  private next32(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum;
  }
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let n = 0; n < text.length; n++) value = Math.imul(value ^ text.charCodeAt(n), 0x01000193);
  return value | 0;
}
