/** Maximum number of cells per line: a file of 10 MB could have ten million. */
const MAX_CELLS = 100;

export interface CsvLines {
  /** First line of each record, from 1; empty lines are not records. */
  readonly starts: readonly number[];
  /** First line with too many cells; the records end before it. */
  readonly tooWide?: number;
}

/** What may stand between cells; spreadsheets write the list separator of the user's country. */
export const SEPARATORS = [',', ';', '\t', '|'] as const;
export type Separator = (typeof SEPARATORS)[number];

/**
 * Finds the first lines of CSV records without parsing cells: after an odd number of quotes, a separator is inside a cell.
 * The parser's line numbers are wrong after a cell with line breaks, and it has no limit for the length of a line.
 */
export function csvLines(text: string, separator: Separator = ','): CsvLines {
  const starts: number[] = [];
  const token = new RegExp(`["\\r\\n${separator}]`, 'g');
  let line = 1;
  let recordLine = 1;
  let recordStart = 0;
  let cells = 1;
  let isQuoted = false;
  const endRecord = (at: number) => {
    if (at > recordStart) starts.push(recordLine);
  };
  while (token.test(text)) {
    const at = token.lastIndex - 1;
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (character === separator) {
      if (!isQuoted && (cells += 1) > MAX_CELLS) return { starts, tooWide: recordLine };
    } else {
      if (character === '\r' && text[at + 1] === '\n') token.lastIndex += 1;
      line += 1;
      if (isQuoted) continue;
      endRecord(at);
      recordLine = line;
      recordStart = token.lastIndex;
      cells = 1;
    }
  }
  endRecord(text.length);
  return { starts };
}
