import Table from 'cli-table3';
import { type Paint, styleOf } from './colour.js';
import { EXIT } from './errors.js';
import { cells, exitCodeOf, rowsOf, type Summary, verdictLine } from './summary.js';
import { plain } from './text.js';

const NO_BORDERS = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat('middle')
    .map((name) => [name, '']),
);
/** Columns that a reason needs to be readable; on a narrower terminal lines are left to break. */
const NARROWEST_REASON = 24;
const WIDEST_NAME = 40;

/** What a run came to: a table of its evaluations, the gate, and where to look next. @param width columns of the terminal */
export function resultText(summary: Summary, { paint, width }: { paint: Paint; width: number }): string {
  const { run } = summary;
  const style = run.status === 'COMPLETED' ? 'green' : exitCodeOf(run) === EXIT.notMet ? 'red' : 'yellow';
  const { rest } = rowsOf(summary);
  return [
    evaluationTable(summary, paint, width),
    ...(rest === undefined ? [] : [rest]),
    '',
    paint(style, verdictLine(run)),
    ...run.reasons.map((reason) => `  ${plain(reason)}`),
    '',
    paint(
      'dim',
      `Run ${run.id}, "${plain(run.name, 120)}". Transcripts and evidence: npx vat report ${run.id} --out report.html`,
    ),
  ].join('\n');
}

function evaluationTable(summary: Summary, paint: Paint, width: number): string {
  const isRepeated = summary.run.repeat > 1;
  const rows = rowsOf(summary).rows.map((evaluation) => {
    const { outcome, evaluation: name, passed, stability, score, p50, p95, reason } = cells(evaluation);
    return [outcome, plain(name), passed, ...(isRepeated ? [stability] : []), score, p50, p95, plain(reason, 240)];
  });
  const head = [
    'Outcome',
    'Evaluation',
    'Passed',
    ...(isRepeated ? ['Stability'] : []),
    'Score',
    'p50',
    'p95',
    'Reason',
  ];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => Math.min(row[column]!.length, column === 1 ? WIDEST_NAME : Infinity))),
  );
  const others = widths.slice(0, -1).reduce((sum, columnWidth) => sum + columnWidth + 2, 0);
  const reasonWidth = Math.min(widths.at(-1)!, Math.max(NARROWEST_REASON, width - others));
  const table = new Table({
    head: head.map((title) => paint('bold', title)),
    chars: NO_BORDERS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
    colWidths: [...widths.slice(0, -1), reasonWidth].map((columnWidth) => columnWidth + 2),
    colAligns: head.map((title) => (['Passed', 'Score', 'p50', 'p95'].includes(title) ? 'right' : 'left')),
    wordWrap: true,
  });
  table.push(...rows.map(([outcome, ...others]) => [paint(styleOf(outcome!), outcome!), ...others]));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
