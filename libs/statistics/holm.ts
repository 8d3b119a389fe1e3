/**
 * Adjusts p-values for the number of tests (Holm 1979): rejecting those up to 5 % rejects a true hypothesis in at most 5 %
 * of cases, however the tests depend on each other.
 * @returns adjusted p-values, in the given order
 */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const adjusted = new Array<number>(pValues.length);
  let largest = 0;
  for (const [rank, { p, index }] of order.entries()) {
    largest = Math.max(largest, Math.min(1, p * (pValues.length - rank)));
    adjusted[index] = largest;
  }
  return adjusted;
}
