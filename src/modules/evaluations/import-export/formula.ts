/**
 * Spreadsheets execute cells that begin with one of these as formulas (CWE-1236; OWASP, "CSV Injection"). A leading
 * apostrophe prevents that; it is in the list itself, so that reading reverses writing exactly.
 */
const DANGEROUS = /^['=+\-@\t\r\n＝＋－＠]/u;

/** Writes a text as a cell that no spreadsheet executes. */
export const escapeFormula = (text: string): string => (DANGEROUS.test(text) ? `'${text}` : text);

/** Reads the text of a cell. */
export const unescapeFormula = (cell: string): string =>
  cell.startsWith("'") && DANGEROUS.test(cell.slice(1)) ? cell.slice(1) : cell;
