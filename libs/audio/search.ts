/**
 * Counts the elements at the front of a list that meet a condition, by binary search: the index of the first one that does
 * not. No later element may meet the condition.
 */
export function partitionPoint<T>(list: readonly T[], isBefore: (one: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(list[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
