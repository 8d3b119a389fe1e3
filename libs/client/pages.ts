interface Page<T> {
  readonly data: readonly T[];
  readonly meta: { readonly pageCount: number };
}

/** The entries of all pages of a list. @param read one page, from 1 */
export async function everyPage<T>(read: (page: number) => Promise<Page<T>>): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; ; page++) {
    const { data, meta } = await read(page);
    all.push(...data);
    if (page >= meta.pageCount) return all;
  }
}
