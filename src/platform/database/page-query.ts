import type { Database } from './database.js';

/** A list: which rows, in which order; `$1`… are the values, the page's own come after them. */
export interface ListSource {
  /** Distinguishes the prepared statement; one name for one text. Empty: planned for its values each time. */
  readonly name: string;
  /** Select list; it must hold `id` and `created_at AS "createdAt"`. */
  readonly columns: string;
  /** Table with its alias. */
  readonly from: string;
  /** Joins that add columns but neither add nor drop rows. */
  readonly joins?: string;
  readonly where: string;
  /** Says that the database keeps count of the list (decision 40), so that no page counts every row. */
  readonly kept?: KeptList;
}

/** A list of which the database keeps count: a table, `$1` is the value of its scope and `$2` that of its facet. */
export interface KeptList {
  readonly relation: string;
  /** The facet's value, if the list is of one only. */
  readonly value?: string | undefined;
}

/** The statement for one page with the size of the whole list, in one round trip. */
export function pageStatement(source: ListSource, valueCount: number): string {
  const { columns, from, joins = '', kept } = source;
  const alias = from.split(' ').at(-1) ?? from;
  const [limit, offset] = [`$${valueCount + 1}`, `$${valueCount + 2}`];
  // First the ids, which the index knows; then the rows, of these only: the sub-query with a limit cannot be turned into
  // a walk through the table. The total comes even when the page is empty, hence the outer join. No source may have one
  // of these names for its alias: its own would hide it, and every row of the page would be the same one.
  return `
    WITH l AS (${kept ? keptIds(kept, limit, offset) : countedIds(source, alias, limit, offset)})
    SELECT l.total::int, l.tail::int, l.changes::int, p.* FROM l
      LEFT JOIN LATERAL unnest(l.ids) AS page_entry(id) ON true
      LEFT JOIN LATERAL (SELECT ${columns} FROM ${from} ${joins} WHERE ${alias}.id = page_entry.id LIMIT 1) p ON true
     ORDER BY p."createdAt" DESC, p.id DESC`;
}

function keptIds({ relation, value }: KeptList, limit: string, offset: string): string {
  const [list, values] = value === undefined ? [`${relation}_list`, '$1'] : [`${relation}_list_by`, '$1, $2'];
  return `SELECT total, tail, changes, ids FROM ${list}(${values}, ${offset}, ${limit})`;
}

/** Newest first, then by id: the order of every list (decisions). Finds everything once, for the total and the page. */
function countedIds({ from, where }: ListSource, alias: string, limit: string, offset: string): string {
  return `WITH hit AS MATERIALIZED (SELECT ${alias}.id, ${alias}.created_at FROM ${from} WHERE ${where})
          SELECT (SELECT count(*) FROM hit) AS total, 0 AS tail, 0 AS changes,
                 ARRAY(SELECT id FROM hit ORDER BY created_at DESC, id DESC LIMIT ${limit} OFFSET ${offset}) AS ids`;
}

interface PageRow {
  readonly id: string | null;
  readonly total: number;
  readonly tail: number;
  readonly changes: number;
}

/** Reads one page of a list. */
export async function readPage<Row extends { id: string }>(
  database: Database,
  source: ListSource,
  values: readonly unknown[],
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: Row[]; total: number }> {
  const statement = pageStatement(source, values.length);
  const found = await database.query<Row & PageRow>(statement, [...values, limit, offset], {
    isPrepared: source.name !== '',
  });
  const [first] = found;
  return { rows: found.filter((row) => row.id !== null), total: first?.total ?? 0 };
}
