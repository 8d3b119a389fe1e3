import { evaluationState, evaluationStatistics, isCounted, latencyMeasures, runScore } from '../statistics/index.js';
import { clipped, count, duration, number } from '../text/index.js';
import { EXIT, type ExitCode } from './errors.js';
import { hasEnded } from './follow.js';
import type { Call, RunDetails } from './service.js';

/** What the calls of one evaluation came to. Latencies in milliseconds. */
export interface EvaluationSummary {
  readonly id: string;
  readonly name: string;
  /** `failed` as soon as one counted call failed; uncounted calls decide only when there is no other. */
  readonly outcome: 'passed' | 'failed' | 'invalid' | 'error' | 'cancelled' | 'pending';
  /** Planned calls. */
  readonly calls: number;
  readonly passed: number;
  readonly failed: number;
  readonly invalid: number;
  readonly error: number;
  /** Null without a counted call, as `score` is. */
  readonly stability: 'stable pass' | 'flaky' | 'stable fail' | null;
  /** Chance that of k calls one at least passes, for k = 1 … counted calls, at position k − 1. */
  readonly passAtK: readonly number[];
  /** Chance that all of k calls pass, likewise. */
  readonly passHatK: readonly number[];
  /** 0 to 100, mean of the counted calls. */
  readonly score: number | null;
  readonly latencyP50: number | null;
  /** Null below five answers, too. */
  readonly latencyP95: number | null;
  /** Of the first call that did not pass, the failed ones first. */
  readonly reason: string | null;
}

/** A run with its calls: what every output is made of, and what `--json` writes. */
export interface Summary {
  readonly run: RunDetails;
  readonly evaluations: readonly EvaluationSummary[];
  readonly calls: readonly Call[];
}

export function summarise(run: RunDetails, calls: readonly Call[]): Summary {
  const byEvaluation = new Map<string, Call[]>();
  for (const call of calls) {
    const group = byEvaluation.get(call.evaluationId);
    if (group) group.push(call);
    else byEvaluation.set(call.evaluationId, [call]);
  }
  return { run, evaluations: [...byEvaluation.values()].map((group) => evaluationSummary(group, run)), calls };
}

type EndedCall = Call & { outcome: NonNullable<Call['outcome']> };

function evaluationSummary(calls: readonly Call[], run: RunDetails): EvaluationSummary {
  const { evaluationId: id, evaluationName: name } = calls[0]!;
  const ended = calls.filter((call): call is EndedCall => call.outcome !== null);
  const of = (outcome: EndedCall['outcome']) => ended.filter((call) => call.outcome === outcome);
  const [failed, error, invalid] = [of('failed'), of('error'), of('invalid')];
  const counts = {
    passed: of('passed').length,
    failed: failed.length,
    invalid: invalid.length,
    error: error.length,
  };
  const [statistics] = evaluationStatistics(ended);
  const { p50, p95 } = latencyMeasures(
    ended.filter(({ outcome }) => isCounted(outcome)).flatMap(({ latencies }) => latencies),
  );
  return {
    id,
    name,
    outcome: evaluationState(counts, run),
    calls: calls.length,
    ...counts,
    // Nothing is stable of which a part was not carried out.
    stability: run.status === 'CANCELLED' && ended.length < calls.length ? null : (statistics?.stability ?? null),
    passAtK: statistics?.passAtK ?? [],
    passHatK: statistics?.passHatK ?? [],
    score: runScore(ended),
    latencyP50: p50,
    latencyP95: p95,
    reason: [...failed, ...error, ...invalid][0]?.reason ?? null,
  };
}

/** The gate is the service's alone; what the command adds is whether anything could be said about the agent. */
export function exitCodeOf({ status, counts }: Pick<RunDetails, 'status' | 'counts'>): ExitCode {
  if (status === 'COMPLETED') return EXIT.met;
  return status === 'FAILED' && counts.passed + counts.failed > 0 ? EXIT.notMet : EXIT.notCarriedOut;
}

/** The run in one line: `Gate met: 12 calls, 12 passed; score 100.` */
export function verdictLine(run: RunDetails): string {
  const score = run.counts.passed + run.counts.failed > 0 ? `score ${number(run.score)}` : 'no score';
  const none = run.counts.failed > 0 ? ', and no minimum was asked for' : '';
  const minimum = run.minimumScore === null ? none : ` of at least ${number(run.minimumScore)}`;
  return `${verdict(run)}: ${countsLine(run)}; ${score}${minimum}.`;
}

function verdict(run: RunDetails): string {
  if (run.status === 'CANCELLED') return 'Cancelled';
  if (!hasEnded(run)) return 'Not ended yet';
  return ['Gate met', 'Gate not met', 'Could not be carried out'][exitCodeOf(run)] ?? run.status;
}

/** `12 calls, 10 passed, 1 failed, 1 error`. */
export function countsLine({ totalCalls, counts }: Pick<RunDetails, 'totalCalls' | 'counts'>): string {
  const parts = (['passed', 'failed', 'invalid', 'error', 'cancelled', 'pending'] as const)
    .filter((outcome) => counts[outcome] > 0 || outcome === 'passed')
    .map((outcome) => `${number(counts[outcome])} ${outcome}`);
  return [count(totalCalls, 'call'), ...parts].join(', ');
}

/** How one evaluation is shown in a row, each cell a text that is not escaped yet. */
export function cells(evaluation: EvaluationSummary) {
  const { name, outcome, passed, calls, stability, score, latencyP50, latencyP95, reason } = evaluation;
  const ms = (value: number | null) => (value === null ? '–' : duration(value));
  return {
    outcome,
    evaluation: clipped(name, 120),
    passed: `${passed}/${calls}`,
    stability: stability ?? '–',
    score: score === null ? '–' : number(score),
    p50: ms(latencyP50),
    p95: ms(latencyP95),
    reason: outcome === 'passed' ? '' : (reason ?? ''),
  };
}

/** Evaluations beyond so many are shown only if they did not pass. */
const MOST_ROWS = 100;

/** Which evaluations a table shows, and a sentence on the others. */
export function rowsOf({ evaluations }: Summary): { rows: readonly EvaluationSummary[]; rest?: string } {
  if (evaluations.length <= MOST_ROWS) return { rows: evaluations };
  const notPassed = evaluations.filter(({ outcome }) => outcome !== 'passed');
  const rows = notPassed.slice(0, MOST_ROWS);
  const passed = evaluations.length - notPassed.length;
  const more = notPassed.length - rows.length;
  const also = more > 0 ? ` and ${number(more)} more did not pass` : '';
  return { rows, rest: `Not shown: ${number(passed)} evaluations passed${also}; --json has all of them.` };
}
