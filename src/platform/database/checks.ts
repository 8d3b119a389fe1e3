/** SQL of a check constraint: the column has one of these values. */
export const oneOf = (column: string, values: readonly string[]) =>
  `${column} IN (${values.map((value) => `'${value}'`).join(', ')})`;
