import { cells, exitCodeOf, rowsOf, type Summary, verdictLine } from './summary.js';
import { markdownText } from './text.js';

/** Sign of the result, by exit code. */
const SIGNS = ['✅', '❌', '⚠️'];
const OUTCOMES: Readonly<Record<string, string>> = { passed: '✅ passed', failed: '❌ failed' };

/** Results of a run as Markdown, for GitHub's step summaries and GitLab's comments. */
export function resultMarkdown(summary: Summary): string {
  const { run } = summary;
  const isRepeated = run.repeat > 1;
  const hasRetries = run.retriedCalls > 0;
  const { rows, rest } = rowsOf(summary);
  const head = [
    'Outcome',
    'Evaluation',
    'Passed',
    ...(hasRetries ? ['Retried'] : []),
    ...(isRepeated ? ['Stability'] : []),
    'Score',
    'p50',
    'p95',
    'Reason',
  ];
  const lines = rows.map((evaluation) => {
    const { outcome, evaluation: name, passed, retried, stability, score, p50, p95, reason } = cells(evaluation);
    const shown = [
      markdownText(name),
      passed,
      ...(hasRetries ? [retried] : []),
      ...(isRepeated ? [stability] : []),
      score,
      p50,
      p95,
      markdownText(reason),
    ];
    return [OUTCOMES[outcome] ?? `⚠️ ${outcome}`, ...shown];
  });
  const table = [head, head.map((title) => ALIGNMENTS[title] ?? '---'), ...lines];
  return [
    `### ${SIGNS[exitCodeOf(run)]} ${markdownText(run.name)}`,
    '',
    `**${verdictLine(run)}**`,
    '',
    ...(run.reasons.length > 0 ? [...run.reasons.map((reason) => `- ${markdownText(reason)}`), ''] : []),
    ...table.map((columns) => `| ${columns.join(' | ')} |`),
    '',
    ...(rest === undefined ? [] : [rest, '']),
    `Run \`${run.id}\`. Transcripts and evidence: \`vat report ${run.id} --out report.html\``,
    '',
  ].join('\n');
}

const ALIGNMENTS: Readonly<Record<string, string>> = {
  Passed: '--:',
  Retried: '--:',
  Score: '--:',
  p50: '--:',
  p95: '--:',
};
