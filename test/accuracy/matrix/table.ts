import { GROUPS, type Group, type MeasuredRow } from './row.js';

/** The matrix as Markdown, one table per group. */
export function matrixTable(measured: readonly MeasuredRow[]): string {
  const groups = (Object.keys(GROUPS) as Group[]).map((group) => {
    const rows = measured.filter(({ row }) => row.group === group);
    const lines = rows.map(({ row, results, wrong }) =>
      cells([
        row.name,
        row.description,
        row.allowed.join(' or '),
        `${results.length - wrong.length} of ${results.length}`,
      ]),
    );
    const head = [cells(['Name', 'What happens', 'Right outcome', 'Right']), cells(['---', '---', '---', '--:'])];
    return [`## ${GROUPS[group]} (${rows.length})`, '', ...head, ...lines].join('\n');
  });
  return groups.join('\n\n');
}

const cells = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`;
