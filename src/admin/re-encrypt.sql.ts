/** A column of ciphertexts. Both names come from the code, never from input. */
interface Column {
  readonly table: string;
  readonly column: string;
}

/** Number of ciphertexts that do not begin with `$1`, the current key. */
export const countOutdated = ({ table, column }: Column): string =>
  `SELECT count(*)::int AS count FROM ${table} WHERE NOT starts_with(${column}, $1)`;

/** Locks `$2` rows with such a ciphertext. `ctid` identifies a row in tables with any primary key. */
export const lockOutdated = ({ table, column }: Column): string =>
  `SELECT ctid::text AS row_id, * FROM ${table} WHERE NOT starts_with(${column}, $1) LIMIT $2 FOR UPDATE`;

/** Replaces the ciphertexts of locked rows: `$1` are their row ids, `$2` the new ciphertexts. */
export const replaceCiphertexts = ({ table, column }: Column): string =>
  `UPDATE ${table} t SET ${column} = s.ciphertext
     FROM unnest($1::text[], $2::text[]) AS s (row_id, ciphertext) WHERE t.ctid = s.row_id::tid`;
