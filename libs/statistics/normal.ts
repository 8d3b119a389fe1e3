/** Chance that a standard normal value exceeds `z`; relative error below 2e-7 (Press et al., Numerical Recipes, erfcc). */
export function normalTail(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + x / 2);
  const polynomial = COEFFICIENTS.reduceRight((sum, coefficient) => coefficient + t * sum, 0);
  const tail = (t * Math.exp(-x * x + polynomial)) / 2;
  return z >= 0 ? tail : 1 - tail;
}

/** The value that a standard normal one exceeds with this chance, up to 38. */
export function normalQuantile(chance: number): number {
  let [low, high] = [-38, 38];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (normalTail(middle) > chance) low = middle;
    else high = middle;
  }
  return high;
}

const COEFFICIENTS = [
  ...[-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806],
  ...[0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277],
];
