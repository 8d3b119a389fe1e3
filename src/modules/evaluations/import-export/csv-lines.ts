/** Most cells of a line: a file of ten megabytes could have ten million. */
const MAX_CELLS = 100;

export interface CsvLines {
  /** The lines on which the records begin, counted from 1; empty lines are none. */
  readonly starts: readonly number[];
  /** The first line with more cells than any file can need; the records end before it. */
  readonly tooWide?: number;
}

/**
 * Finds the lines of a CSV text without reading its cells: an odd number of quotes before it tells that a separator is
 * inside a cell. The parser's own count is wrong behind a cell with line breaks, and it would read endless lines.
 * @param most records that are wanted
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
