import { clipped, count, distinctLabels, duration, number, percent } from '../text/index.js';
import type { Style } from './colour.js';
import { EXIT, type ExitCode } from './errors.js';
import type { RunMatrix } from './service.js';
import { type Column, type Look, markdownTable, textTable } from './table.js';
import { markdownText, plain } from './text.js';

type Run = RunMatrix['runs'][number];
type Case = RunMatrix['cases'][number];
type Result = Case['results'][number];

/** With more cases, only those with a difference are shown. */
const MAX_ROWS = 100;
const CASE_WIDTH = 40;
/** Of the title of a column. */
const MAX_LABEL = 40;

/** Several runs side by side: a column per run, named by a letter and described above the table. */
export function matrixText(matrix: RunMatrix, look: Look): string {
  const { runs, warnings } = matrix;
  const { rows, rest } = rowsOf(matrix);
  const columns: Column[] = [
    { title: 'Case', width: CASE_WIDTH },
    ...titlesOf(runs, look.width).map((title): Column => ({ title, align: 'right', colour: styleOf })),
  ];
  const cells = rows.map((one) => [plain(one.name, 120), ...resultTexts(one, runs)]);
  return [
    ...runs.map((run, index) => `${letter(index)}  ${runText(run, hasClocks(runs))}`),
    '',
    textTable(columns, [...cells, ...wholeRows(runs)], look),
    ...(rest > 0 ? [`Not shown: ${count(rest, 'case')} without a difference.`] : []),
    '',
    verdict(matrix),
    ...warnings.map((warning) => `  ${plain(warning)}`),
  ].join('\n');
}

/** The same table as Markdown. */
export function matrixMarkdown(matrix: RunMatrix): string {
  const { runs, warnings } = matrix;
  const { rows, rest } = rowsOf(matrix);
  const columns: Column[] = [
    { title: 'Case' },
    ...titlesOf(runs, Infinity).map((title): Column => ({ title: markdownText(title), align: 'right' })),
  ];
  const cells = rows.map((one) => [markdownText(one.name), ...resultTexts(one, runs)]);
  return [
    `### ${count(runs.length, 'run')} side by side`,
    '',
    ...runs.map((run, index) => `- ${letter(index)}: ${markdownText(runText(run, hasClocks(runs)))}`),
    '',
    markdownTable(columns, [...cells, ...wholeRows(runs)]),
    '',
    ...(rest > 0 ? [`Not shown: ${count(rest, 'case')} without a difference.`, ''] : []),
    `**${verdict(matrix)}**`,
    '',
    ...warnings.map((warning) => `- ${markdownText(warning)}`),
    ...(warnings.length > 0 ? [''] : []),
  ].join('\n');
}

/**
 * Exit code of `vat compare` with several runs: 1 if the first one is worse than another, in a case or in all of them
 * together.
 * @param strict whether it is 2 if every case had too few calls
 */
export function matrixExitCode({ runs, cases }: RunMatrix, strict = false): ExitCode {
  const changes = cases.flatMap(({ results }) => results.flatMap(({ difference }) => difference?.change ?? []));
  const all = [...changes, ...runs.flatMap(({ difference }) => difference?.change ?? [])];
  if (all.includes('better')) return EXIT.notMet;
  return strict && changes.every((change) => change === 'undecided') ? EXIT.noResult : EXIT.met;
}

/** A, B, C and so on; a matrix has at most twelve runs. */
const letter = (index: number): string => String.fromCharCode(65 + index);

/** Titles of the columns: letters, and what tells the runs apart, unless that is wider than the terminal. */
function titlesOf(runs: readonly Run[], width: number): string[] {
  const names = runs.map(({ protocol, agentVersion, agentName, agentId, name }) =>
    [protocol, agentVersion, agentName ?? agentId, name].map((text) => (text === null ? null : plain(text, MAX_LABEL))),
  );
  const titles = distinctLabels(names).map((label, index) => `${letter(index)} ${clipped(label, MAX_LABEL)}`);
  const whole = titles.reduce((sum, title) => sum + title.length + 2, CASE_WIDTH);
  return whole <= width ? titles : runs.map((_, index) => letter(index));
}

const resultIn = ({ results }: Case, { id }: Run): Result | undefined => results.find(({ runId }) => runId === id);

const hasDifference = ({ difference }: Pick<Result, 'difference'>): boolean =>
  difference?.change === 'worse' || difference?.change === 'better';

function rowsOf({ cases }: RunMatrix): { rows: readonly Case[]; rest: number } {
  const rows =
    cases.length > MAX_ROWS ? cases.filter(({ results }) => results.some(hasDifference)).slice(0, MAX_ROWS) : cases;
  return { rows, rest: cases.length - rows.length };
}

const resultTexts = (one: Case, runs: readonly Run[]): string[] =>
  runs.map((run) => resultText(resultIn(one, run), resultIn(one, runs[0]!)));

type Counts = Pick<Result, 'counted' | 'passed' | 'passRate' | 'difference'>;

/** `18/20`, with the difference to the first run where it is larger than chance, or where too few calls can tell. */
function resultText(result: Counts | undefined, first: Counts | undefined): string {
  if (result === undefined) return '–';
  const { counted, passed, passRate, difference } = result;
  const isOpen = difference?.change === 'undecided' && counted > 0 && passRate !== first?.passRate;
  const text = isOpen ? ' too few calls' : hasDifference(result) ? ` ${difference?.change}` : '';
  return `${passed}/${counted}${text}`;
}

const styleOf = (cell: string): Style =>
  /worse$|^0\/[1-9]/.test(cell) ? 'red' : cell.endsWith('better') ? 'green' : 'dim';

const wholeRows = (runs: readonly Run[]): string[][] => [
  ['All together', ...runs.map((run) => resultText(run, runs[0]))],
  ['Score', ...runs.map(({ score }) => known(score, number))],
  ['Latency p50', ...runs.map(({ latency }) => known(latency.p50, duration))],
  ['Latency p95', ...runs.map(({ latency }) => known(latency.p95, duration))],
  ...(hasClocks(runs) ? [['Clock', ...runs.map(({ latency }) => latency.clock ?? '–')]] : []),
];

const known = (value: number | null, format: (value: number) => string): string =>
  value === null ? '–' : format(value);

/** Whether latencies are measured on different clocks. */
const hasClocks = (runs: readonly Run[]): boolean =>
  new Set(runs.flatMap(({ latency }) => latency.clock ?? [])).size > 1;

function runText(run: Run, isClockNamed: boolean): string {
  const { id, name, agentId, agentName, agentVersion, protocol, passRate, latency } = run;
  const parts = [
    `${quoted(name)} (${plain(id)}) of ${agentName === null ? plain(agentId) : quoted(agentName)}`,
    ...(agentVersion === null ? [] : [`agent ${plain(agentVersion, 120)}`]),
    ...(protocol === null ? [] : [plain(protocol)]),
    ...(passRate === null ? [] : [`${percent(passRate)} passed`]),
    ...(isClockNamed && latency.clock !== null ? [`latencies: ${latency.clock}`] : []),
  ];
  return parts.join(', ');
}

const quoted = (name: string): string => `"${plain(name, 120)}"`;

/** Names each run that differs from the first one. */
function verdict({ runs, cases }: RunMatrix): string {
  const sentences = runs.slice(1).flatMap((run, index) => {
    const changes = cases.flatMap((one) => resultIn(one, run)?.difference?.change ?? []);
    const of = (wanted: string) => changes.filter((change) => change === wanted).length;
    const [worse, better, whole] = [of('worse'), of('better'), run.difference?.change];
    const isDifferent = whole === 'worse' || whole === 'better';
    if (worse + better === 0 && !isDifferent) return [];
    const parts = [
      ...(worse > 0 ? [`worse in ${count(worse, 'case')}`] : []),
      ...(better > 0 ? [`better in ${count(better, 'case')}`] : []),
      ...(isDifferent ? [`${whole} in all together`] : []),
    ];
    return [`${letter(index + 1)} is ${parts.join(', ')}.`];
  });
  const found = sentences.length > 0 ? sentences.join(' ') : 'None.';
  return `Differences to A larger than chance: ${found}`;
}
