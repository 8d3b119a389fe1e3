/** The middle value; NaN of nothing. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** `{ median, low, high }` of the values. */
export const spread = (values) => ({ median: median(values), low: Math.min(...values), high: Math.max(...values) });

/** The spread of the ratios of what was measured in the same round, which what else the machine did hit alike. */
export const ratios = (values, to) => spread(values.slice(0, to.length).map((value, round) => value / to[round]));
