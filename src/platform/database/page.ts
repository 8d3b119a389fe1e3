export const DEFAULT_LIMIT = 25;

/** The page that a caller requests; the first one is 1. */
export interface PageRequest {
  readonly page?: number;
  readonly limit?: number;
}

/** A page as a service returns it. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
}

/** The responses of a page, made of the rows that `read` finds. */
export async function listPage<Row, Item>(
  query: PageRequest,
  toItem: (row: Row) => Item,
  read: (rows: { limit: number; offset: number }) => Promise<{ rows: readonly Row[]; total: number }>,
): Promise<Page<Item>> {
  const { page, limit, offset } = window(query);
  const { rows, total } = await read({ limit, offset });
  return { items: rows.map(toItem), total, page, limit };
}

/** Offset and size of a page, with the defaults filled in. */
export function window({ page = 1, limit = DEFAULT_LIMIT }: PageRequest): {
  page: number;
  limit: number;
  offset: number;
} {
  return { page, limit, offset: (page - 1) * limit };
}
