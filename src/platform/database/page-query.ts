import type { Database, Statement } from './database.js';

/** A list: which rows, in which order; `$1`… are the values, the page's two come after them. */
export interface ListSource {
  /** Distinguishes the prepared statement; one name for one text. */
  readonly name: string;
  /** Select list; it must hold `id` and `created_at AS "createdAt"`. */
  readonly columns: string;
  /** Table with its alias. */
  readonly from: string;
  /** Joins that add columns but neither add nor drop rows. */
  readonly joins?: string;
  readonly where: string;
  /** Query for the size of the whole list, where something cheaper than counting its rows knows it. */
  readonly total?: string;
}

/** Newest first, then by id: the order of every list (decisions). */
const order = (alias: string) => `${alias}.created_at DESC, ${alias}.id DESC`;

/** The statement for one page with the size of the whole list, in one round trip. */
export function pageStatement(source: ListSource, valueCount: number): Statement {
  const { columns, from, joins = '', where } = source;
  const { total = `SELECT count(*)::int AS total FROM ${from} WHERE ${where}` } = source;
  const alias = from.split(' ').at(-1) ?? from;
  // The total comes with the page even when the page is empty, hence the outer join.
  return {
    name: source.name,
    text: `SELECT t.total, p.* FROM (${total}) t
             LEFT JOIN (SELECT ${columns} FROM ${from} ${joins} WHERE ${where}
                         ORDER BY ${order(alias)} LIMIT $${valueCount + 1} OFFSET $${valueCount + 2}) p ON true
            ORDER BY p."createdAt" DESC, p.id DESC`,
  };
}

/** Reads one page of a list. */
export async function readPage<Row extends { id: string }>(
  database: Database,
  source: ListSource,
  values: readonly unknown[],
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: Row[]; total: number }> {
  const statement = pageStatement(source, values.length);
  const rows = await database.query<Row & { total: number }>(statement, [...values, limit, offset]);
  return { rows: rows.filter((row) => (row.id as string | null) !== null), total: rows[0]?.total ?? 0 };
}
