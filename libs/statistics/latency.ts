/** With fewer turns, percentiles from p90 up equal the maximum and are not shown. */
export const MIN_TURNS_FOR_PERCENTILES = 5;

/** Response latencies: milliseconds from the end of the caller's speech to the start of the agent's response. */
export interface LatencyMeasures {
  /** Number of measured responses. */
  readonly count: number;
  readonly p50: number | null;
  /** Null below five responses, like p95 and p99: they would equal `worst`. */
  readonly p90: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly worst: number | null;
}

/** Percentiles of response latencies, of one call or of many together. @param latencies milliseconds, in any order */
export function latencyMeasures(latencies: readonly number[]): LatencyMeasures {
  const sorted = [...latencies].sort((a, b) => a - b);
  const isEnough = sorted.length >= MIN_TURNS_FOR_PERCENTILES;
  const high = (p: number) => (isEnough ? percentile(sorted, p) : null);
  return {
    count: sorted.length,
    p50: percentile(sorted, 50),
    p90: high(90),
    p95: high(95),
    p99: high(99),
    worst: percentile(sorted, 100),
  };
}

/**
 * Nearest rank: the smallest value that at least p percent of the values do not exceed, v[ceil(p/100 · n)] of the sorted
 * values v[1] … v[n]. The result is always a measured value, and "p percent are within the limit" is equivalent to "the
 * percentile is within the limit".
 * @param sorted ascending
 */
export function percentile(sorted: ArrayLike<number>, p: number): number | null {
  return sorted[Math.max(1, Math.ceil((p * sorted.length) / 100)) - 1] ?? null;
}
