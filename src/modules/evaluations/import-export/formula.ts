/**
 * Spreadsheets carry out a cell that begins with one of these as a formula (CWE-1236; OWASP, "CSV Injection"). The
 * apostrophe makes them show it as text; it is one of them, so that reading can undo it exactly.
 */
const DANGEROUS = /^['=+\-@\t\r\n＝＋－＠]/u;

/** A text as a cell that no spreadsheet takes for a formula. */
export const escapeFormula = (text: string): string => (DANGEROUS.test(text) ? `'${text}` : text);

/** The text that a cell stands for. */
export const unescapeFormula = (cell: string): string =>
  cell.startsWith("'") && DANGEROUS.test(cell.slice(1)) ? cell.slice(1) : cell;
