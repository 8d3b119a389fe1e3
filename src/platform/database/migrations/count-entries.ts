export interface CountedTable {
  /** The table, and the name of its lists in the counter. */
  readonly table: string;
  /** Column that holds the id of the list's owner. */
  readonly owner: string;
  /** Column that the list can be filtered by. */
  readonly facet?: string;
  /** Whether rows with `deleted_at` are not in the list. */
  readonly softDelete?: boolean;
  /** Column whose rows with this value are not in the list. */
  readonly except?: { readonly column: string; readonly value: string };
}

/** Triggers that count the entries of a table (decision 64). */
export function countEntries({ table, owner, facet, softDelete = false, except }: CountedTable): string {
  const key = `'${table}', ${owner}, ${facet ?? `''`}`;
  const listed = except ? `${except.column} <> '${except.value}'` : softDelete ? 'deleted_at IS NULL' : 'true';
  const columns = [owner, ...(facet === undefined ? [] : [facet]), ...(softDelete ? ['deleted_at'] : [])];
  if (except) columns.push(except.column);
  const row = (version: 'OLD' | 'NEW') => `(${columns.map((column) => `${version}.${column}`).join(', ')})`;
  return `
    CREATE FUNCTION count_inserted_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO list_deltas SELECT ${key}, count(*) FROM inserted WHERE ${listed} GROUP BY 2, 3;
        RETURN NULL;
      END $$;
    CREATE TRIGGER ${table}_count_inserted AFTER INSERT ON ${table} REFERENCING NEW TABLE AS inserted
      FOR EACH STATEMENT EXECUTE FUNCTION count_inserted_${table}();

    CREATE FUNCTION count_deleted_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO list_deltas SELECT ${key}, -count(*) FROM deleted WHERE ${listed} GROUP BY 2, 3;
        RETURN NULL;
      END $$;
    CREATE TRIGGER ${table}_count_deleted AFTER DELETE ON ${table} REFERENCING OLD TABLE AS deleted
      FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_${table}();

    -- For each row, because only then can a condition spare most updates the call.
    CREATE FUNCTION count_updated_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO list_deltas
          SELECT ${key}, -1 FROM (SELECT OLD.*) r WHERE ${listed}
          UNION ALL
          SELECT ${key}, 1 FROM (SELECT NEW.*) r WHERE ${listed};
        RETURN NULL;
      END $$;
    CREATE TRIGGER ${table}_count_updated AFTER UPDATE ON ${table}
      FOR EACH ROW WHEN (${row('OLD')} IS DISTINCT FROM ${row('NEW')})
      EXECUTE FUNCTION count_updated_${table}();
  `;
}

/** Drops the functions of `countEntries`, after the table. */
export const dropCounters = (table: string): string =>
  `DROP FUNCTION count_inserted_${table}, count_deleted_${table}, count_updated_${table}`;
