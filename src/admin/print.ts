/** Prints rows as a table; columns are as wide as their longest value. */
export function printTable(rows: readonly Readonly<Record<string, string | number | null>>[]): void {
  const [first] = rows;
  if (!first) return void process.stdout.write('None.\n');
  const names = Object.keys(first);
  const lines = [names, ...rows.map((row) => names.map((name) => printable(row[name] ?? '-')))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) {
    process.stdout.write(
      `${line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}

/** Customers choose names: control characters must not reach the administrator's terminal. */
const printable = (value: string | number): string => String(value).replace(/[\u0000-\u001f\u007f-\u009f]/g, '\uFFFD');
