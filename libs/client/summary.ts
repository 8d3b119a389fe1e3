import { caseStatistics, evaluationState, isCounted, latencyMeasures, runScore } from '../statistics/index.js';
import { caseName, clipped, count, duration, number } from '../text/index.js';
import { EXIT, type ExitCode } from './errors.js';
import { hasEnded } from './follow.js';
import type { Call, RunDetails } from './service.js';

/** Results of the calls of one case: an evaluation, or one of its rows of variables. Latencies in milliseconds. */
export interface EvaluationSummary {
  /** Id of the evaluation. */
  readonly id: string;
  readonly caseKey: string;
  /** Name of the evaluation, with the values of the row. */
  readonly name: string;
  /** Null without variables. */
  readonly variables: Call['variables'];
  /** `failed` as soon as one counted call failed; uncounted calls decide only when there is no other. */
  readonly outcome: 'passed' | 'failed' | 'invalid' | 'error' | 'provisional' | 'cancelled' | 'pending';
  /** Planned calls. */
  readonly calls: number;
  readonly passed: number;
  readonly failed: number;
  readonly invalid: number;
  readonly error: number;
  /** Ended calls, if it is provisional: then they have none of the other outcomes here. */
  readonly provisional: number;
  /** Calls that needed a second attempt. */
  readonly retried: number;
  /** Null without a counted call, as `score` is. */
  readonly stability: 'stable pass' | 'flaky' | 'stable fail' | null;
  /** Probability that at least one of k calls passes, for k = 1 … counted calls, at index k − 1. */
  readonly passAtK: readonly number[];
  /** Probability that all of k calls pass, likewise. */
  readonly passHatK: readonly number[];
  /** 0 to 100, mean of the counted calls. */
  readonly score: number | null;
  readonly latencyP50: number | null;
  /** Also null with fewer than five responses. */
  readonly latencyP95: number | null;
  /** Reason of the first call that did not pass, failed calls first. */
  readonly reason: string | null;
  /** Code of the failure of that call, with which the troubleshooting guide is searched; null unless it ended as `error`. */
  readonly failureCode: string | null;
}

/** Longest reason that a code follows, so that a table does not cut the code off. */
const MAX_REASON = 200;

/** A run with its calls, as `--json` writes it; the source of every output. */
export interface Summary {
  readonly run: RunDetails;
  readonly evaluations: readonly EvaluationSummary[];
  readonly calls: readonly Call[];
}

export function summarise(run: RunDetails, calls: readonly Call[]): Summary {
  const byCase = new Map<string, Call[]>();
  for (const call of calls) {
    const group = byCase.get(call.caseKey);
    if (group) group.push(call);
    else byCase.set(call.caseKey, [call]);
  }
  return { run, evaluations: [...byCase.values()].map((group) => evaluationSummary(group, run)), calls };
}

type EndedCall = Call & { outcome: NonNullable<Call['outcome']> };

function evaluationSummary(calls: readonly Call[], run: RunDetails): EvaluationSummary {
  const { evaluationId: id, evaluationName, caseKey, variables } = calls[0]!;
  const all = calls.filter((call): call is EndedCall => call.outcome !== null);
  const ended = all.filter(({ provisional }) => !provisional);
  const of = (outcome: EndedCall['outcome']) => ended.filter((call) => call.outcome === outcome);
  const [failed, error, invalid] = [of('failed'), of('error'), of('invalid')];
  const [shown] = [...failed, ...error, ...invalid, ...all.filter(({ provisional }) => provisional)];
  const counts = {
    passed: of('passed').length,
    failed: failed.length,
    invalid: invalid.length,
    error: error.length,
    provisional: all.length - ended.length,
  };
  const [statistics] = caseStatistics(ended);
  const { p50, p95 } = latencyMeasures(
    ended.filter(({ outcome }) => isCounted(outcome)).flatMap(({ latencies }) => latencies),
  );
  return {
    id,
    caseKey,
    name: caseName(evaluationName, variables, caseKey),
    variables,
    outcome: evaluationState(counts, run),
    calls: calls.length,
    ...counts,
    retried: calls.filter(({ retries }) => retries > 0).length,
    // A cancelled evaluation with missing calls has no stability.
    stability: run.status === 'CANCELLED' && all.length < calls.length ? null : (statistics?.stability ?? null),
    passAtK: statistics?.passAtK ?? [],
    passHatK: statistics?.passHatK ?? [],
    score: runScore(ended),
    latencyP50: p50,
    latencyP95: p95,
    reason: shown?.provisional ? `${shown.outcome}: ${shown.reason ?? ''}` : (shown?.reason ?? null),
    failureCode: shown?.outcome === 'error' ? (shown.attempts.at(-1)?.failureCode ?? null) : null,
  };
}

/** The service decides on the gate, with 0, 1 or 2; a run that has not ended has no result. */
export const exitCodeOf = ({ exitCode }: Pick<RunDetails, 'exitCode'>): ExitCode =>
  (exitCode ?? EXIT.noResult) as ExitCode;

/** Summary of the run: `Gate met: 12 calls, 12 passed; score 100.` */
export function verdictLine(run: RunDetails): string {
  const score = run.counts.passed + run.counts.failed > 0 ? `score ${number(run.score)}` : 'no score';
  const minimum = run.minimumScore === null ? '' : ` of at least ${number(run.minimumScore)}`;
  return `${verdict(run)}: ${countsLine(run)}; ${score}${minimum}.`;
}

function verdict(run: RunDetails): string {
  if (run.status === 'CANCELLED') return 'Cancelled';
  if (!hasEnded(run)) return 'In progress';
  if (run.day) return 'Production calls, without a gate';
  if (run.status === 'COMPLETED') return 'Gate met';
  return run.counts.passed + run.counts.failed > 0 ? 'Gate not met' : 'No result';
}

/** `12 calls (2 retried), 10 passed, 1 failed, 1 error`. */
export function countsLine(run: Pick<RunDetails, 'totalCalls' | 'counts' | 'retriedCalls'>): string {
  const { totalCalls, counts, retriedCalls } = run;
  const retried = retriedCalls > 0 ? ` (${number(retriedCalls)} retried)` : '';
  const parts = (['passed', 'failed', 'invalid', 'error', 'provisional', 'cancelled', 'pending'] as const)
    .filter((outcome) => counts[outcome] > 0 || outcome === 'passed')
    .map((outcome) => `${number(counts[outcome])} ${outcome}`);
  return [`${count(totalCalls, 'call')}${retried}`, ...parts].join(', ');
}

const reasonOf = ({ reason, failureCode }: EvaluationSummary): string =>
  failureCode === null ? (reason ?? '') : `${clipped(reason ?? '', MAX_REASON)} (${failureCode})`.trimStart();

/** Cells of an evaluation in a table; not escaped. */
export function cells(evaluation: EvaluationSummary) {
  const { name, outcome, passed, calls, retried, stability, score, latencyP50, latencyP95 } = evaluation;
  const ms = (value: number | null) => (value === null ? '–' : duration(value));
  return {
    outcome,
    evaluation: clipped(name, 240),
    passed: `${passed}/${calls}`,
    retried: retried === 0 ? '–' : number(retried),
    stability: stability ?? '–',
    score: score === null ? '–' : number(score),
    p50: ms(latencyP50),
    p95: ms(latencyP95),
    reason: outcome === 'passed' ? '' : reasonOf(evaluation),
  };
}

/** With more evaluations, only those that did not pass are shown. */
const MAX_ROWS = 100;

/** Rows of the table, and a sentence about the omitted evaluations. */
export function rowsOf({ evaluations }: Summary): { rows: readonly EvaluationSummary[]; rest?: string } {
  if (evaluations.length <= MAX_ROWS) return { rows: evaluations };
  const notPassed = evaluations.filter(({ outcome }) => outcome !== 'passed');
  const rows = notPassed.slice(0, MAX_ROWS);
  const passed = evaluations.length - notPassed.length;
  const more = notPassed.length - rows.length;
  const also = more > 0 ? ` and ${number(more)} more that did not pass` : '';
  return { rows, rest: `Not shown: ${number(passed)} evaluations passed${also}; use --json for all of them.` };
}
