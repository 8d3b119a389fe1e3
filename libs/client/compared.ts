import { undecidedChange } from '../statistics/index.js';
import { count, duration, number, percent } from '../text/index.js';
import type { Style } from './colour.js';
import { EXIT, type ExitCode } from './errors.js';
import type { RunComparison } from './service.js';
import { type Column, type Look, markdownTable, textTable } from './table.js';
import { markdownText, plain } from './text.js';

type Compared = RunComparison['cases'][number];
type Run = RunComparison['current'];
type Change = RunComparison['change'];

/** With more shared cases, only those that changed are shown. */
const MAX_ROWS = 100;

/** Cases that changed and are undecided; the rest is only counted. */
const MAX_UNDECIDED = 20;

const figure = (title: string): Column => ({ title, align: 'right' });

/** A run beside an earlier one: the shared cases, and a sentence about all of them together. */
export function comparisonText(comparison: RunComparison, look: Look): string {
  const { current, baseline, cases, change, warnings } = comparison;
  const { shown, rest } = rowsOf(cases);
  return [
    `Earlier: ${runText(baseline, current)}`,
    `Now:     ${runText(current, baseline)}`,
    '',
    ...(shown.length > 0 ? [textTable(COLUMNS, shown.map(row), look)] : []),
    ...(rest > 0 ? [`Not shown: ${count(rest, 'case')}.`] : []),
    ...undecidedLines(cases),
    '',
    look.paint(styleOf(change), verdict(comparison)),
    ...warnings.map((warning) => `  ${plain(warning, 1_000)}`),
  ].join('\n');
}

/** The same table as Markdown. */
export function comparisonMarkdown(comparison: RunComparison): string {
  const { current, baseline, cases, warnings } = comparison;
  const { shown, rest } = rowsOf(cases);
  return [
    `### ${markdownText(current.name)} compared with ${markdownText(baseline.name)}`,
    '',
    `- Earlier: ${markdownText(runText(baseline, current))}`,
    `- Now: ${markdownText(runText(current, baseline))}`,
    '',
    markdownTable(
      COLUMNS,
      shown.map((one) => row(one).map((cell) => markdownText(cell))),
    ),
    '',
    ...(rest > 0 ? [`Not shown: ${count(rest, 'case')}.`, ''] : []),
    ...undecidedLines(cases).map((line) => `- ${markdownText(line)}`),
    '',
    `**${verdict(comparison)}**`,
    '',
    ...warnings.map((warning) => `- ${markdownText(warning)}`),
    ...(warnings.length > 0 ? [''] : []),
  ].join('\n');
}

/**
 * Exit code of `vat compare`: 1 if a case, or all shared cases together, became worse.
 * @param strict whether it is 2 if every case had too few calls
 */
export function comparisonExitCode({ change, cases }: RunComparison, strict = false): ExitCode {
  if (change === 'worse' || cases.some((one) => one.change === 'worse')) return EXIT.notMet;
  return strict && cases.every((one) => one.change === 'undecided') ? EXIT.noResult : EXIT.met;
}

/** The cases that changed and have too few calls to exclude chance. */
function undecidedLines(cases: readonly Compared[]): string[] {
  const lines = cases.flatMap((one) => {
    const text = one.callsNeeded === null ? undefined : undecidedChange(one, one.callsNeeded);
    return text === undefined ? [] : [`${quoted(one.name)}: ${text}`];
  });
  const rest = lines.length - MAX_UNDECIDED;
  return [...lines.slice(0, MAX_UNDECIDED), ...(rest > 0 ? [`${count(rest, 'more case')} changed, too.`] : [])];
}

function rowsOf(cases: readonly Compared[]): { shown: readonly Compared[]; rest: number } {
  const shown = cases.length > MAX_ROWS ? cases.filter(hasChanged).slice(0, MAX_ROWS) : cases;
  return { shown, rest: cases.length - shown.length };
}

const hasChanged = ({ change }: Compared): boolean => change === 'worse' || change === 'better';

const styleOf = (change: string): Style => (change === 'worse' ? 'red' : change === 'better' ? 'green' : 'dim');

const COLUMNS: readonly Column[] = [
  { title: 'Change', colour: styleOf },
  { title: 'Case', width: 48 },
  figure('Earlier'),
  figure('Now'),
  figure('Score'),
  figure('p50'),
  figure('p95'),
];

const row = ({ change, name, current, baseline }: Compared): string[] => [
  change,
  plain(name, 120),
  passed(baseline),
  passed(current),
  pair(baseline.score, current.score, number),
  pair(baseline.latency.p50, current.latency.p50, duration),
  pair(baseline.latency.p95, current.latency.p95, duration),
];

const passed = ({ passed: n, counted }: { readonly passed: number; readonly counted: number }): string =>
  `${n}/${counted}`;

/** A value of both runs, earlier one first. */
function pair(before: number | null, now: number | null, format: (value: number) => string): string {
  const text = (value: number | null) => (value === null ? '–' : format(value));
  return text(before) === text(now) ? text(now) : `${text(before)} → ${text(now)}`;
}

/** A run, with its agent and the clock of its latencies where those of the other run differ. */
function runText({ id, name, agentId, agentName, agentVersion, score, passRate, latency }: Run, other: Run): string {
  const agent = agentId === other.agentId ? '' : ` of ${agentName === null ? plain(agentId) : quoted(agentName)}`;
  const { clock } = latency;
  const hasOwnClock = clock !== null && other.latency.clock !== null && clock !== other.latency.clock;
  const version = agentVersion === null ? '' : `, agent ${plain(agentVersion, 120)}`;
  const rate = passRate === null ? '' : `, ${percent(passRate)} passed`;
  const clockText = hasOwnClock ? `, latencies: ${clock}` : '';
  const scored = score === null ? '–' : number(score);
  return `${quoted(name)} (${plain(id)})${agent}${version}, score ${scored}${rate}${clockText}`;
}

const quoted = (name: string): string => `"${plain(name, 120)}"`;

function verdict({ change, cases }: RunComparison): string {
  const of = (wanted: Change) => cases.filter((one) => one.change === wanted).length;
  const parts = [
    `${count(of('worse'), 'case')} worse`,
    `${of('better')} better`,
    `${of('same')} without a difference larger than chance`,
    ...(of('undecided') > 0 ? [`${of('undecided')} with too few calls to decide`] : []),
  ];
  return `${parts.join(', ')}; together: ${TOGETHER[change]}.`;
}

const TOGETHER: Readonly<Record<Change, string>> = {
  worse: 'worse',
  better: 'better',
  same: 'no difference larger than chance',
  undecided: 'too few calls to decide',
};
