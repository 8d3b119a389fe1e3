/** Probabilities below this are dropped at the ends of a sum. Far below any level of significance. */
const NEGLIGIBLE = 1e-30;

/** A distribution on whole numbers: a hypergeometric one, or the sum of independent ones. */
export class Hypergeometric {
  /** @param first smallest value @param chances probability of each value from there */
  private constructor(
    private readonly first: number,
    private readonly chances: Float64Array,
  ) {}

  /** How many of the `marked` among `drawn + left` items are drawn, when all draws are equally likely. */
  static of(drawn: number, left: number, marked: number): Hypergeometric {
    const first = Math.max(0, marked - left);
    const last = Math.min(drawn, marked);
    const chances = new Float64Array(last - first + 1);
    // From the most likely value to both ends, so that nothing underflows where it matters.
    const mode = Math.floor(((drawn + 1) * (marked + 1)) / (drawn + left + 2));
    const ratio = (x: number) => ((drawn - x) * (marked - x)) / ((x + 1) * (left - marked + x + 1));
    chances[mode - first] = 1;
    for (let x = mode; x < last; x++) chances[x + 1 - first] = chances[x - first]! * ratio(x);
    for (let x = mode - 1; x >= first; x--) chances[x - first] = chances[x + 1 - first]! / ratio(x);
    const total = sum(chances);
    for (let at = 0; at < chances.length; at++) chances[at]! /= total;
    return new Hypergeometric(first, chances);
  }

  /** The distribution of the sum, by convolution: of halves, because one by one takes a second for thousands of parts. */
  static sum(parts: readonly Hypergeometric[]): Hypergeometric {
    if (parts.length < 2) return parts[0] ?? new Hypergeometric(0, Float64Array.of(1));
    const middle = parts.length >> 1;
    return Hypergeometric.sum(parts.slice(0, middle)).plus(Hypergeometric.sum(parts.slice(middle)));
  }

  private plus(other: Hypergeometric): Hypergeometric {
    const chances = new Float64Array(this.chances.length + other.chances.length - 1);
    for (let i = 0; i < this.chances.length; i++) {
      const chance = this.chances[i]!;
      for (let j = 0; j < other.chances.length; j++) chances[i + j]! += chance * other.chances[j]!;
    }
    let [from, to] = [0, chances.length];
    while (chances[from]! < NEGLIGIBLE) from++;
    while (chances[to - 1]! < NEGLIGIBLE) to--;
    return new Hypergeometric(this.first + other.first + from, chances.subarray(from, to));
  }

  /** Probability of `x` or less. */
  atMost(x: number): number {
    return Math.min(1, sum(this.chances, 0, x - this.first + 1));
  }

  /** Probability of `x` or more. */
  atLeast(x: number): number {
    return Math.min(1, sum(this.chances, Math.max(0, x - this.first)));
  }
}

/** A loop: callbacks for each value take several times as long. */
function sum(chances: Float64Array, from = 0, to = chances.length): number {
  let total = 0;
  for (let at = from; at < Math.min(to, chances.length); at++) total += chances[at]!;
  return total;
}
