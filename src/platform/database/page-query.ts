import type { Database } from './database.js';

/** A list: its rows and columns. The order of every list is newest first, then by `id` descending. */
export interface ListSource {
  /** Select list; it must contain `id` and `created_at AS "createdAt"`. */
  readonly columns: string;
  /** Table with its alias. */
  readonly from: string;
  /** Joins that add columns but neither add nor drop rows. */
  readonly joins?: string;
  /** Condition on the table; its parameters are `$1`, `$2` and so on. */
  readonly where: string;
  /** How the size of the list is determined: by `count(*)` unless given. */
  readonly total?: CounterKey | 'search';
}

/**
 * Reads the size from the counter (decision 64): `$1` of `where` is the owner's id. The table needs the triggers of
 * `countEntries`; `test/integration/list-totals.test.ts` compares `where` with what they count.
 */
export interface CounterKey {
  readonly list: string;
  /** Parameter of `where` that the facet equals, for instance `$2`, if the list is filtered by it. */
  readonly facet?: string;
}

/** SQL of one page together with the size of the whole list; LIMIT and OFFSET follow the values of `where`. */
function pageStatement({ columns, from, joins = '', where, total }: ListSource, valueCount: number): string {
  const alias = from.split(' ').at(-1) ?? from;
  // A search is expensive, so it runs once for the page and the count; other lists use their index for each.
  const materialized = total === 'search' ? 'MATERIALIZED' : 'NOT MATERIALIZED';
  const size = typeof total === 'object' ? counted(total) : 'SELECT count(*) FROM entry';
  // The ids come from the index alone; rows are read for the page only, since the planner expects few ids in an array.
  // The outer join returns the size even when the page is empty.
  return `
    WITH entry AS ${materialized} (SELECT ${alias}.id, ${alias}.created_at FROM ${from} WHERE ${where})
    SELECT l.total::int, p.* FROM (SELECT (${size}) AS total) l
      LEFT JOIN (SELECT ${columns} FROM ${from} ${joins} WHERE ${alias}.id = ANY (ARRAY(
        SELECT id FROM entry ORDER BY created_at DESC, id DESC LIMIT $${valueCount + 1} OFFSET $${valueCount + 2}
      ))) p ON true
     ORDER BY p."createdAt" DESC, p.id DESC`;
}

function counted({ list, facet }: CounterKey): string {
  const key = `list = '${list}' AND owner_id = $1${facet === undefined ? '' : ` AND facet = ${facet}`}`;
  return `SELECT coalesce(sum(n), 0) FROM (SELECT total FROM list_totals WHERE ${key}
                                           UNION ALL SELECT delta FROM list_deltas WHERE ${key}) counter (n)`;
}

/** Reads one page of a list and the size of the whole list, in one round trip and one snapshot. */
export async function readPage<Row extends { id: string }>(
  database: Database,
  source: ListSource,
  values: readonly unknown[],
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: Row[]; total: number }> {
  const text = pageStatement(source, values.length);
  // The fastest plan of a search depends on how many rows match.
  const isPrepared = source.total !== 'search';
  const found = await database.query<Row & { total: number }>(text, [...values, limit, offset], { isPrepared });
  return { rows: found.filter((row) => row.id !== null), total: found[0]?.total ?? 0 };
}
