import {
  heardText,
  historySide,
  historyText,
  isRootCause,
  platformText,
  soundText,
  type TimelineEntry,
  toolCallText,
} from '../simulation/index.js';
import { findingsOf } from './findings.js';
import type { CallReader, ReportedCall, ReportedEvaluation, ReportedRun } from './reported.js';
import { durationOf, stateOf } from './reported.js';
import { between, clipped, duration, moment, oneLine, visible } from '../text/index.js';
import { TranscriptBudget } from './transcript-budget.js';
import { xmlElement, xmlTag } from './xml.js';

/** The suite of evaluations without a tag. */
const UNTAGGED = 'evaluations';
/** Name of the suite and of the test case with the run's decision. */
const GATE = 'gate';
const MAX_NAME = 200;
const MAX_MESSAGE = 1_000;
const MAX_LINE = 300;
const MAX_LINES = 60;

/**
 * A run as JUnit XML, as GitLab, GitHub's report actions and Jenkins read it. One suite per first tag, one test case
 * per call, and a suite with the run's gate, which a day of production calls does not have. Failed calls are failures; calls that could not be tested (`error` and
 * `invalid`) are errors; cancelled, pending and provisional calls are skipped with a message. Names do not depend on the outcome, so
 * that runs of a plan can be compared.
 * Yields parts and keeps only one call in memory.
 * @param calls is called once per suite
 * @throws what `calls` throws
 */
export async function* renderJunit(run: ReportedRun, calls: CallReader): AsyncGenerator<string, void, undefined> {
  const suites = suitesOf(run);
  const names = caseNames(run.evaluations);
  const budget = new TranscriptBudget();
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  const took = between(run.startedAt, run.endedAt);
  const time = took === undefined ? undefined : seconds(took);
  const gateCounts = run.isProduction ? { tests: 0, failures: 0, errors: 0, skipped: 0 } : countsOfGate(run);
  // Jenkins' xUnit plugin refuses `skipped` here.
  const { skipped: _, ...total } = sums(countsOf(run.evaluations), gateCounts);
  yield `<${xmlTag('testsuites', { name: name(run.name), ...total, time })}>\n`;
  for (const [suite, evaluations] of suites) {
    const timestamp = run.startedAt === null ? undefined : run.startedAt.slice(0, 19);
    const suiteTime = seconds(evaluations.reduce((sum, { durationMs }) => sum + durationMs, 0));
    yield `  <${xmlTag('testsuite', { name: suite, ...countsOf(evaluations), timestamp, time: suiteTime })}>\n`;
    yield retriedProperty(evaluations);
    const ids = new Set(evaluations.map(({ id }) => id));
    for await (const call of calls({ evaluationIds: [...ids] })) {
      if (ids.has(call.evaluationId)) {
        const ending = run.repeat > 1 ? ` #${call.repetition}` : '';
        yield testCase(call, suite, `${names.get(call.caseKey)}${ending}`, budget.takes(call));
      }
    }
    yield '  </testsuite>\n';
  }
  if (!run.isProduction) {
    yield `  <${xmlTag('testsuite', { name: GATE, ...gateCounts, time: seconds(0) })}>\n${derivedProperty(run)}${gateCase(run)}  </testsuite>\n`;
  }
  yield '</testsuites>\n';
}

/** Names the run whose recorded calls were judged again. */
const derivedProperty = ({ derivedFrom }: ReportedRun): string =>
  derivedFrom === null
    ? ''
    : `    <properties><${xmlTag('property', { name: 'derivedFrom', value: derivedFrom.runId })}/></properties>\n`;

/** The decision on the run as a test case: some CI systems show only test cases. */
function gateCase(run: ReportedRun): string {
  const start = xmlTag('testcase', { classname: GATE, name: GATE, time: seconds(0) });
  const result = gateResult(run);
  return result === '' ? `    <${start}/>\n` : `    <${start}>\n      ${result}\n    </testcase>\n`;
}

function gateResult({ status, exitCode, reasons }: ReportedRun): string {
  const message = clipped(reasons.join(' '), MAX_MESSAGE);
  const all = reasons.map((reason) => clipped(reason, MAX_MESSAGE)).join('\n');
  if (status === 'CANCELLED') return xmlElement('skipped', { message: 'The run was cancelled' }, '');
  if (exitCode === null) return xmlElement('skipped', { message: 'Pending: the run has not ended yet' }, '');
  if (exitCode === 0) return '';
  return xmlElement(exitCode === 1 ? 'failure' : 'error', { message, type: 'gate_not_met' }, all);
}

interface Counts {
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
  readonly skipped: number;
}

function countsOfGate({ status, exitCode }: ReportedRun): Counts {
  const isDecided = status !== 'CANCELLED' && exitCode !== null;
  return {
    tests: 1,
    failures: isDecided && exitCode === 1 ? 1 : 0,
    errors: isDecided && exitCode === 2 ? 1 : 0,
    skipped: isDecided ? 0 : 1,
  };
}

const sums = (one: Counts, other: Counts): Counts => ({
  tests: one.tests + other.tests,
  failures: one.failures + other.failures,
  errors: one.errors + other.errors,
  skipped: one.skipped + other.skipped,
});

/** In the order of the plan. */
function suitesOf({ evaluations }: ReportedRun): ReadonlyMap<string, ReportedEvaluation[]> {
  const suites = new Map<string, ReportedEvaluation[]>();
  for (const evaluation of evaluations) {
    const suite = name(evaluation.tags[0] ?? '') || UNTAGGED;
    const others = suites.get(suite);
    if (others) others.push(evaluation);
    else suites.set(suite, [evaluation]);
  }
  return suites;
}

/** Names as they are displayed, so that different names look different. */
const name = (text: string): string => clipped(oneLine(visible(text)), MAX_NAME);

/** Makes names unique by key or, without one, by a number. */
function caseNames(evaluations: readonly ReportedEvaluation[]): ReadonlyMap<string, string> {
  const times = new Map<string, number>();
  for (const evaluation of evaluations) {
    const own = name(evaluation.name);
    times.set(own, (times.get(own) ?? 0) + 1);
  }
  const taken = new Set<string>();
  const names = new Map<string, string>();
  for (const evaluation of evaluations) {
    const own = name(evaluation.name);
    const isShared = times.get(own)! > 1;
    const wanted = isShared && evaluation.key !== null ? `${own} (${name(evaluation.key)})` : own;
    let free = wanted;
    for (let n = 2; taken.has(free); n++) free = `${wanted} (${n})`;
    taken.add(free);
    names.set(evaluation.caseKey, free);
  }
  return names;
}

function countsOf(evaluations: readonly ReportedEvaluation[]): Counts {
  const sum = (of: (evaluation: ReportedEvaluation) => number) => evaluations.reduce((all, one) => all + of(one), 0);
  return {
    tests: sum(({ total }) => total),
    failures: sum(({ failed }) => failed),
    errors: sum(({ error, invalid }) => error + invalid),
    skipped: sum(({ total, passed, failed, error, invalid }) => total - passed - failed - error - invalid),
  };
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

function testCase(call: ReportedCall, classname: string, caseName: string, isWhole: boolean): string {
  const time = seconds(durationOf(call));
  const result = resultOf(call);
  const said = [...earlierAttempts(call), ...(isWhole && call.timeline.length > 0 ? [transcript(call)] : [])];
  const out = said.length > 0 ? xmlElement('system-out', {}, said.join('\n')) : '';
  const inside = [result, out].filter((part) => part !== '').map((part) => `      ${part}\n`);
  const start = xmlTag('testcase', { classname, name: caseName, time });
  return inside.length === 0 ? `    <${start}/>\n` : `    <${start}>\n${inside.join('')}    </testcase>\n`;
}

function resultOf(call: ReportedCall): string {
  const message = clipped(call.reason ?? '', MAX_MESSAGE);
  switch (stateOf(call)) {
    case 'passed':
      return '';
    case 'failed':
      return xmlElement('failure', { message, type: errorCode(call) ?? 'not_met' }, unmet(call));
    case 'error':
      return xmlElement('error', { message, type: errorCode(call) ?? 'error' }, `${message}\nCall ${call.id}`);
    case 'invalid':
      return xmlElement('error', { message, type: 'invalid' }, `${message}\nCall ${call.id}`);
    case 'provisional':
      return xmlElement('skipped', { message: clipped(`Provisional, ${call.outcome}: ${message}`, MAX_MESSAGE) }, '');
    case 'cancelled':
      return xmlElement('skipped', { message: 'Cancelled' }, '');
    case 'pending':
      return xmlElement('skipped', { message: 'Pending: the call has not ended yet' }, '');
  }
}

const errorCode = ({ timeline }: ReportedCall): string | undefined =>
  timeline.find((entry) => entry.type === 'error')?.code;

/** Calls that needed a second attempt, which the outcomes do not show. */
function retriedProperty(evaluations: readonly ReportedEvaluation[]): string {
  const value = evaluations.reduce((sum, { retried }) => sum + retried, 0);
  if (value === 0) return '';
  return `    <properties><${xmlTag('property', { name: 'retriedCalls', value })}/></properties>\n`;
}

/** One line per attempt before the one that counts. */
const earlierAttempts = ({ attempts, earlierAttempts: earlier }: ReportedCall): string[] =>
  earlier.map(
    ({ outcome, reason }, index) =>
      `Attempt ${index + 1} of ${attempts}: ${outcome}: ${clipped(oneLine(reason), MAX_MESSAGE)}`,
  );

/** Findings that are not met, with details and quotes. */
function unmet(call: ReportedCall): string {
  const items = findingsOf(call).flatMap(({ met, required, name: asked, detail, evidence }) => {
    if (met !== false) return [];
    const quotes = evidence.flatMap(({ entry, quote }) =>
      quote === '' ? [] : [`    at ${moment(call.timeline[entry]?.start ?? 0)}: "${clipped(quote, MAX_LINE)}"`],
    );
    return [
      `Not met${required ? '' : ' (not required)'}: ${clipped(asked, MAX_LINE)}`,
      `  ${clipped(detail, MAX_MESSAGE)}`,
      ...quotes,
    ];
  });
  const causes = call.timeline.filter(isRootCause).map((entry) => clipped(words(entry), MAX_MESSAGE));
  return [...causes, ...(items.length > 0 ? items : [clipped(call.reason ?? '', MAX_MESSAGE)]), `Call ${call.id}`].join(
    '\n',
  );
}

/** The beginning and the end of the transcript, where the reason usually is. */
function transcript({ timeline }: ReportedCall): string {
  const lines = timeline.map((entry) => `${moment(entry.start)}  ${clipped(oneLine(words(entry)), MAX_LINE)}`);
  if (lines.length <= MAX_LINES) return lines.join('\n');
  const half = MAX_LINES / 2;
  return [...lines.slice(0, half), `… ${lines.length - MAX_LINES} more …`, ...lines.slice(-half)].join('\n');
}

function words(entry: TimelineEntry): string {
  switch (entry.type) {
    case 'speech':
      return `${entry.speaker === 'agent' ? 'Agent' : 'Caller'}: ${heardText(entry)}`;
    case 'tool_call':
      return `Agent calls ${toolCallText(entry)}${entry.result === undefined ? '' : `, result ${JSON.stringify(entry.result)}`}`;
    case 'given':
      return `(before the call, ${historySide(entry.line)}: ${historyText(entry.line)})`;
    case 'sound':
      return `(${soundText(entry)})`;
    case 'finding':
      return `Protocol ${entry.severity} ${entry.code}: ${entry.detail}`;
    case 'platform':
      return `(${platformText(entry)})`;
    case 'silence':
      return `(the ${entry.of} is silent for ${duration(entry.end - entry.start)})`;
    case 'error':
      return `Error ${entry.code}: ${entry.message}`;
    case 'end':
      return `End, by ${entry.by === 'tester' ? 'the tester' : `the ${entry.by}`}: ${entry.reason}`;
  }
}
