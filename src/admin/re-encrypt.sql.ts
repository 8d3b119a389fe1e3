/** A column of ciphertexts. Both names come from the code, never from input. */
interface Column {
  readonly table: string;
  readonly column: string;
}

/** Number of ciphertexts by the id of their key; null for a value that is not encrypted, which must not be shown. */
export const countByKey = ({ table, column }: Column): string =>
  `SELECT CASE WHEN ${column} ~ '^[A-Za-z0-9_-]{1,32}[.][A-Za-z0-9_-]{38,}$' THEN split_part(${column}, '.', 1) END
          AS "keyId", count(*)::int AS count
     FROM ${table} WHERE ${column} IS NOT NULL GROUP BY 1`;

/** Locks `$2` rows whose ciphertext is under one of the keys `$1`. `ctid` identifies a row in tables with any primary key. */
export const lockOutdated = ({ table, column }: Column): string =>
  `SELECT ctid::text AS row_id, * FROM ${table} WHERE split_part(${column}, '.', 1) = ANY ($1) LIMIT $2 FOR UPDATE`;

/** Replaces the ciphertexts of locked rows: `$1` are their row ids, `$2` the new ciphertexts. */
export const replaceCiphertexts = ({ table, column }: Column): string =>
  `UPDATE ${table} t SET ${column} = s.ciphertext
     FROM unnest($1::text[], $2::text[]) AS s (row_id, ciphertext) WHERE t.ctid = s.row_id::tid`;
