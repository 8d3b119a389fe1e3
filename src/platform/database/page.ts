export const DEFAULT_LIMIT = 25;

/** Which page a caller wants; pages count from 1. */
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

/** Where a page begins and how much it holds, with the defaults filled in. */
export function window({ page = 1, limit = DEFAULT_LIMIT }: PageRequest): {
  page: number;
  limit: number;
  offset: number;
} {
  return { page, limit, offset: (page - 1) * limit };
}
