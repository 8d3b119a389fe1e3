import { accountLimitNote, gateConditions, type GateSettings } from '../statistics/index.js';
import { count, duration, number } from '../text/index.js';
import { styleOf } from './colour.js';
import { EXIT } from './errors.js';
import type { RunPlan, StartRunRequest } from './service.js';
import type { PlannedSuite } from './suite-run.js';
import { cells, exitCodeOf, rowsOf, type Summary, verdictLine } from './summary.js';
import { type Column, type Look, textTable } from './table.js';
import { plain } from './text.js';

const NAME = { title: 'Evaluation', width: 48 } as const;
const figure = (title: string): Column => ({ title, align: 'right' });

/**
 * Results of a run: its evaluations, the gate, and a hint how to get the report.
 * @param hasReport whether the report is written to a file
 */
export function resultText(summary: Summary, look: Look, { hasReport = false } = {}): string {
  const { run } = summary;
  const { rows, rest } = rowsOf(summary);
  const shown = { stability: run.repeat > 1, retried: run.retriedCalls > 0 };
  const style = run.status === 'COMPLETED' && !run.day ? 'green' : exitCodeOf(run) === EXIT.notMet ? 'red' : 'yellow';
  return [
    rows.length > 0 ? textTable(columns(shown), rows.map(row(shown)), look) : '',
    ...(rest === undefined ? [] : [rest]),
    '',
    look.paint(style, verdictLine(run)),
    ...run.reasons.map((reason) => `  ${plain(reason)}`),
    ...noteOf(accountLimitNote(run.callsThatWaited), look),
    ...(run.paidSeconds === null ? [] : [`  Paid at the platform: ${duration(run.paidSeconds * 1_000)}.`]),
    ...run.warnings.flatMap((warning) => noteOf(warning, look)),
    ...(hasReport
      ? []
      : [look.paint('dim', `Transcripts and evidence: vat report ${plain(run.id)} --out report.html`)]),
  ].join('\n');
}

const noteOf = (note: string | undefined, look: Look): string[] =>
  note === undefined ? [] : [look.paint('yellow', `  Note: ${plain(note)}`)];

/** Columns that only some runs need. */
interface Shown {
  readonly stability: boolean;
  readonly retried: boolean;
}

const columns = (shown: Shown): Column[] => [
  { title: 'Outcome', colour: styleOf },
  NAME,
  figure('Passed'),
  ...(shown.retried ? [figure('Retried')] : []),
  ...(shown.stability ? [{ title: 'Stability' }] : []),
  figure('Score'),
  figure('p50'),
  figure('p95'),
  { title: 'Reason' },
];

const row =
  (shown: Shown) =>
  (evaluation: Summary['evaluations'][number]): string[] => {
    const { outcome, evaluation: name, passed, retried, stability, score, p50, p95, reason } = cells(evaluation);
    const optional = [...(shown.retried ? [retried] : []), ...(shown.stability ? [stability] : [])];
    return [outcome, plain(name), passed, ...optional, score, p50, p95, plain(reason, 240)];
  };

/** Telephone numbers that are named. */
const MAX_NUMBERS = 10;

/** The plan of a run. */
export function planText(plan: RunPlan, look: Look): string {
  const { name, repeat, concurrency, totalCalls, evaluations, warnings } = plan;
  return [
    ...evaluationsText(evaluations, look),
    `"${plain(name, 120)}" would make ${count(totalCalls, 'call')} of ${count(evaluations.length, 'evaluation')}, ${repeat} of each, ${concurrency} at once.`,
    ...costText(plan),
    ...diallingText(plan.dialling),
    gateText(plan, evaluations),
    ...warnings.map((warning) => look.paint('yellow', plain(warning))),
    'Nothing was started.',
  ].join('\n');
}

const costText = ({ maxPaidSeconds, maxPaidAttempts }: RunPlan): string[] =>
  maxPaidSeconds === null
    ? []
    : [`The platform bills at most ${number(maxPaidSeconds)} s for it, with ${maxPaidAttempts} attempts at each call.`];

/** Whom a run rings up; nothing from services of earlier versions. */
export function diallingText(dialling: RunPlan['dialling'] | undefined): string[] {
  if (!dialling) return [];
  const { numbers, calls, maxMinutes } = dialling;
  const named = numbers.map(({ number: one, of }) => `${plain(one)} (of the ${of})`);
  const more = named.length > MAX_NUMBERS ? ` and ${named.length - MAX_NUMBERS} more` : '';
  const usage = `${count(calls, 'call')} of at most ${count(maxMinutes, 'minute')} together`;
  return [
    `Dials ${count(numbers.length, 'telephone number')} in ${usage}: ${named.slice(0, MAX_NUMBERS).join(', ')}${more}.`,
  ];
}

/** The plan of a run whose suite is not imported. */
export function suitePlanText(
  { chosen, warnings, others }: PlannedSuite,
  request: StartRunRequest,
  look: Look,
): string {
  const { repeat = 1, minimumScore = null, minimumPassRate = null } = request;
  const { allowedUncounted = 0, notWorseThan = null } = request;
  const evaluations = [
    ...chosen.map(({ cases, ...evaluation }) => ({ ...evaluation, calls: cases * repeat })),
    ...(others?.evaluations ?? []).map(({ cases, ...evaluation }) => ({ ...evaluation, calls: cases.length * repeat })),
  ];
  const calls = evaluations.reduce((sum, evaluation) => sum + evaluation.calls, 0);
  return [
    ...evaluationsText(evaluations, look),
    `The run would make ${count(calls, 'call')} of ${count(evaluations.length, 'evaluation')}, ${repeat} of each.`,
    gateText({ minimumScore, minimumPassRate, allowedUncounted, notWorseThan }, evaluations),
    ...[...warnings, ...(others?.warnings ?? [])].map((warning) => look.paint('yellow', plain(warning))),
    'Nothing was imported or started.',
  ].join('\n');
}

type PlannedEvaluation = Pick<
  RunPlan['evaluations'][number],
  'name' | 'key' | 'tags' | 'caller' | 'calls' | 'critical' | 'provisional' | 'explanation'
>;

/** A table of evaluations, and what each of them does. */
function evaluationsText(evaluations: readonly PlannedEvaluation[], look: Look): string[] {
  const table = textTable(
    [NAME, { title: 'Key', width: 30 }, { title: 'Tags', width: 30 }, { title: 'Caller' }, figure('Calls'), CRITICAL],
    evaluations.map(({ name: evaluation, key, tags, caller, calls, critical, provisional }) => [
      plain(evaluation, 120),
      plain(key ?? '–', 120),
      plain(tags.join(', ') || '–', 120),
      caller,
      String(calls),
      provisional ? 'provisional' : critical ? 'critical' : '',
    ]),
    look,
  );
  const explained = evaluations.flatMap(({ name, explanation }) => [
    look.paint('bold', `${plain(name, 120)}:`),
    ...explanation.map((line) => `  ${plain(line)}`),
    '',
  ]);
  return [table, '', ...explained];
}

const gateText = (settings: GateSettings, evaluations: readonly PlannedEvaluation[]): string =>
  `Gate: ${gateConditions(settings, evaluations.filter(({ critical, provisional }) => critical && !provisional).length).join(', ')}.`;

const CRITICAL: Column = { title: 'Gate', colour: () => 'yellow' };
