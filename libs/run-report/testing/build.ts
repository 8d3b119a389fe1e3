import { type CallResult, CallView } from '../../simulation/index.js';
import { type CallState, caseStatistics, type CountedCall, gate, isCounted, runScore } from '../../statistics/index.js';
import type { CallReader, ReportedAttempt, ReportedCall, ReportedEvaluation, ReportedRun } from '../index.js';
import { durationOf, stateOf } from '../reported.js';

/** A result of a call, or the state of a call without one. */
export type PlayedCall = CallResult | 'cancelled' | 'pending';

export interface PlayedEvaluation {
  readonly name: string;
  readonly key?: string | null;
  readonly tags?: readonly string[];
  readonly critical?: boolean;
  readonly provisional?: boolean;
  readonly calls: readonly PlayedCall[];
}

export interface Built {
  readonly run: ReportedRun;
  readonly calls: readonly ReportedCall[];
  readonly read: CallReader;
}

const START = Date.UTC(2026, 10, 20, 9, 30);
const idOf = (n: number): string => `0197b3c4-1f2a-7b3c-8d4e-${n.toString(16).padStart(12, '0')}`;
const at = (ms: number): string => new Date(START + ms).toISOString();

/** A run of these calls, with the statistics and gate computed by the production code. */
export function buildRun(evaluations: readonly PlayedEvaluation[], more: Partial<ReportedRun> = {}): Built {
  const calls = evaluations.flatMap((evaluation, position) =>
    evaluation.calls.map((played, index) => ({
      ...reportedCall(played, position, index),
      provisional: evaluation.provisional ?? false,
    })),
  );
  const counted = calls.flatMap(({ caseKey, outcome, score, provisional }) =>
    outcome === null || provisional ? [] : [{ caseKey, outcome, score }],
  );
  const critical = evaluations.flatMap(({ critical: isCritical, name }, position) =>
    isCritical && !evaluations[position]!.provisional ? [{ caseKey: idOf(position + 1), name }] : [],
  );
  const { minimumScore = 80, minimumPassRate = null, allowedUncounted = 0, notWorseThan = null } = more;
  const settings = { minimumScore, minimumPassRate, allowedUncounted, notWorseThan };
  const { met, exitCode, reasons, warnings } = gate({
    ...settings,
    calls: counted,
    critical,
    cases: [],
    baseline: null,
  });
  const run: ReportedRun = {
    id: idOf(0xff0000),
    name: 'Nightly booking regression',
    agentId: idOf(0xaa0000),
    agentName: 'Bella Vista booking line',
    status: met ? 'COMPLETED' : 'FAILED',
    score: runScore(counted),
    exitCode,
    reasons,
    warnings,
    agentVersion: null,
    derivedFrom: null,
    comparison: null,
    matrix: null,
    serviceUrl: null,
    repeat: Math.max(1, ...evaluations.map((evaluation) => evaluation.calls.length)),
    createdAt: at(0),
    startedAt: at(400),
    endedAt: at(97_400),
    counts: countsOf(calls),
    paidSeconds: null,
    callsThatWaited: 0,
    retriedCalls: calls.filter(({ retries }) => retries > 0).length,
    evaluations: evaluations.map((evaluation, position) => reportedEvaluation(evaluation, position, counted, calls)),
    ...settings,
    ...more,
  };
  return { run, calls, read: readerOf(calls) };
}

/** Returns the filtered calls, as the service's reader does. */
export const readerOf = (calls: readonly ReportedCall[]): CallReader =>
  async function* ({ evaluationIds, outcomes }) {
    for (const call of calls) {
      if (evaluationIds && !evaluationIds.includes(call.evaluationId)) continue;
      if (outcomes && (call.outcome === null || !outcomes.includes(call.outcome))) continue;
      yield call;
    }
  };

function reportedCall(played: PlayedCall, position: number, index: number): Omit<ReportedCall, 'provisional'> {
  const id = idOf((position + 1) * 0x10000 + index);
  const own = {
    id,
    externalId: null,
    evaluationId: idOf(position + 1),
    caseKey: idOf(position + 1),
    repetition: index + 1,
  };
  if (typeof played === 'string') {
    const status = played === 'cancelled' ? 'CANCELLED' : 'QUEUED';
    const nothing = {
      outcome: null,
      score: null,
      reason: null,
      failureCode: null,
      startedAt: null,
      endedAt: null,
      measures: null,
      voice: null,
    };
    return {
      ...own,
      status,
      attempts: 0,
      retries: 0,
      earlierAttempts: [],
      timeline: [],
      checks: [],
      criteria: [],
      ...nothing,
    };
  }
  const { outcome, score, reason, failure, timeline, checks, criteria, measures } = played;
  const failureCode = failure?.code ?? null;
  const result = { outcome, score, reason, failureCode, timeline, checks, criteria, measures, voice: null };
  return {
    ...own,
    status: 'ENDED',
    startedAt: at(500),
    endedAt: at(500 + measures.durationMs),
    attempts: outcome === 'error' ? 3 : 1,
    retries: outcome === 'error' ? 2 : 0,
    earlierAttempts: outcome === 'error' ? [1, 2].map((n) => attemptOf(played, n)) : [],
    ...result,
  };
}

const attemptOf = ({ outcome, reason, failure, timeline }: CallResult, number: number): ReportedAttempt => ({
  outcome,
  reason,
  failureCode: failure?.code ?? null,
  timeline,
  callId: idOf(0xcc0000 + number),
  startedAt: at(500 + number * 1_000),
  endedAt: at(900 + number * 1_000),
  isShortened: false,
});

function reportedEvaluation(
  { name, key = null, tags = [], critical = false }: PlayedEvaluation,
  position: number,
  counted: readonly CountedCall[],
  calls: readonly ReportedCall[],
): ReportedEvaluation {
  const id = idOf(position + 1);
  const own = calls.filter((call) => call.evaluationId === id);
  const of = (state: string) => own.filter((call) => stateOf(call) === state).length;
  const statistics = caseStatistics(counted).find((one) => one.caseKey === id);
  return {
    id,
    caseKey: id,
    language: 'en-US',
    key,
    name,
    tags,
    critical,
    counted: of('passed') + of('failed'),
    passed: of('passed'),
    failed: of('failed'),
    invalid: of('invalid'),
    error: of('error'),
    provisional: of('provisional'),
    retried: own.filter(({ retries }) => retries > 0).length,
    total: own.length,
    durationMs: own.reduce((sum, call) => sum + durationOf(call), 0),
    stability: statistics?.stability ?? null,
    passRate: statistics?.passRate ?? null,
    passRateInterval: statistics?.passRateInterval ?? null,
    score: runScore(counted.filter(({ caseKey }) => caseKey === id)),
    latencies: own.flatMap(({ outcome, provisional, timeline }) =>
      outcome !== null && !provisional && isCounted(outcome) ? new CallView(timeline).latencies : [],
    ),
  };
}

function countsOf(calls: readonly ReportedCall[]): ReportedRun['counts'] {
  const of = (state: CallState) => calls.filter((call) => stateOf(call) === state).length;
  return {
    total: calls.length,
    passed: of('passed'),
    failed: of('failed'),
    invalid: of('invalid'),
    error: of('error'),
    provisional: of('provisional'),
    cancelled: of('cancelled'),
    pending: of('pending'),
  };
}
