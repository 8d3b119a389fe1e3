/** A column of rows that are passed as JSON. */
export interface JsonColumn {
  readonly column: string;
  /** Its type in PostgreSQL. */
  readonly type: string;
}

/** Shorthand for a `JsonColumn`. */
export const column = (name: string, type: string): JsonColumn => ({ column: name, type });

/**
 * SQL fragments for rows that are passed as one JSON list of objects, so that thousands need few statements.
 * @param columns the columns by the name of the field in JSON
 */
export function jsonRows(columns: Readonly<Record<string, JsonColumn>>) {
  const fields = Object.entries(columns);
  const list = (of: (field: string, of: JsonColumn) => string) => fields.map(([name, it]) => of(name, it)).join(', ');
  return {
    /** Column definitions for `jsonb_to_recordset`. */
    record: list((name, { type }) => `"${name}" ${type}`),
    /** The names of the fields. */
    names: list((name) => `"${name}"`),
    /** The columns of the table. */
    columns: list((_, { column: of }) => of),
    /** The columns of the table under an alias. */
    columnsOf: (alias: string) => list((_, { column: of }) => `${alias}.${of}`),
    /** The given values under an alias. */
    valuesOf: (alias: string) => list((name) => `${alias}."${name}"`),
  };
}
