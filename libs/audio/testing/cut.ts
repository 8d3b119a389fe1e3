/** The parts of a sound that is cut at any places, which may be beyond its end. */
export function cut(whole: Uint8Array, places: readonly number[]): Uint8Array[];
export function cut(whole: Int16Array, places: readonly number[]): Int16Array[];
export function cut(whole: Uint8Array | Int16Array, places: readonly number[]): (Uint8Array | Int16Array)[] {
  const ends = [...places.map((place) => place % (whole.length + 1)), whole.length].sort((a, b) => a - b);
  return ends.map((end, n) => whole.slice(ends[n - 1] ?? 0, end));
}
