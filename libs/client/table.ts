import Table from 'cli-table3';
import type { Paint } from './colour.js';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Colour of a cell. */
  readonly colour?: (cell: string) => Parameters<Paint>[0];
  /** Maximum width; longer cells are wrapped. By default the last column takes the remaining width. */
  readonly width?: number;
}

export interface Look {
  readonly paint: Paint;
  /** Columns of the terminal. */
  readonly width: number;
}

/** Minimum width of the last column; on narrower terminals lines wrap. */
const NARROWEST = 24;
const GAP = 2;

const NO_BORDERS = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat('middle')
    .map((name) => [name, '']),
);

/** A table without borders. @param rows cells that are safe to print, one per column */
export function textTable(columns: readonly Column[], rows: readonly (readonly string[])[], look: Look): string {
  const longest = columns.map(({ title }, index) => Math.max(title.length, ...rows.map((row) => row[index]!.length)));
  const natural = columns.map(({ width = Infinity }, index) => Math.min(width, longest[index]!));
  const others = natural.slice(0, -1).reduce((sum, width) => sum + width + GAP, 0);
  const left = Math.max(NARROWEST, look.width - others - GAP);
  const table = new Table({
    head: columns.map(({ title }) => look.paint('bold', title)),
    chars: NO_BORDERS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
    // Without a width the library measures the cells, including wide characters.
    colWidths: columns.map(({ width }, index) => {
      const most = width ?? (index === columns.length - 1 ? left : Infinity);
      return longest[index]! > most ? most + GAP : null;
    }),
    colAligns: columns.map(({ align = 'left' }) => align),
    wordWrap: true,
  });
  table.push(
    ...rows.map((row) =>
      row.map((cell, index) => {
        const colour = columns[index]!.colour;
        return colour ? look.paint(colour(cell), cell) : cell;
      }),
    ),
  );
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** A table in Markdown. @param rows cells that are safe in Markdown, one per column */
export const markdownTable = (columns: readonly Column[], rows: readonly (readonly string[])[]): string =>
  [columns.map(({ title }) => title), columns.map(({ align }) => (align === 'right' ? '--:' : '---')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
