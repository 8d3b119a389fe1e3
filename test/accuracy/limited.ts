/** Maps all items, at most `limit` at once: too many concurrent calls in one process would delay each other. */
export async function mapLimited<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const open = [...items.entries()];
  const work = async () => {
    for (let next = open.shift(); next; next = open.shift()) results[next[0]] = await map(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: limit }, work));
  return results;
}
