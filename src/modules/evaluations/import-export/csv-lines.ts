/** Maximum number of cells per line: a file of 10 MB could have ten million. */
const MAX_CELLS = 100;

export interface CsvLines {
  /** First line of each record, from 1; empty lines are not records. */
  readonly starts: readonly number[];
  /** First line with too many cells; the records end before it. */
  readonly tooWide?: number;
}

/**
 * Finds the first lines of CSV records without parsing cells: after an odd number of quotes, a separator is inside a cell.
 * The parser's line numbers are wrong after a cell with line breaks, and it has no limit for the length of a line.
 * @param most maximum number of records
 */
export function csvLines(text: string, most: number): CsvLines {
  const starts: number[] = [];
  const token = /["\r\n,]/g;
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
    else if (character === ',') {
      if (!isQuoted && (cells += 1) > MAX_CELLS) return { starts, tooWide: recordLine };
    } else {
      if (character === '\r' && text[at + 1] === '\n') token.lastIndex += 1;
      line += 1;
      if (isQuoted) continue;
      endRecord(at);
      if (starts.length >= most) return { starts };
      recordLine = line;
      recordStart = token.lastIndex;
      cells = 1;
    }
  }
  endRecord(text.length);
  return { starts };
}
