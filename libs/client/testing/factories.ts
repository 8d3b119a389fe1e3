import type { Call, RunComparison, RunMatrix, RunDetails } from '../service.js';

const NOW = '2026-11-21T06:37:42.758Z';

export const runOf = (values: Partial<RunDetails> = {}): RunDetails => ({
  label: 'READ',
  id: '1d8c6b4f-90e3-4a57-b2d1-7f5a3e8c0946',
  name: 'Nightly',
  createdAt: NOW,
  updatedAt: NOW,
  userId: 'user',
  workspaceId: 'workspace',
  agentId: 'agent',
  status: 'COMPLETED',
  score: 100,
  totalCalls: 1,
  repeat: 1,
  concurrency: 5,
  minimumScore: null,
  minimumPassRate: null,
  allowedUncounted: 0,
  notWorseThan: null,
  baselineRunId: null,
  scheduleId: null,
  ...{ origin: 'test', day: null, production: null },
  agentVersion: null,
  agentVariables: {},
  assistantVersion: null,
  maxPaidAttempts: 2,
  paidSeconds: null,
  callsThatWaited: 0,
  dialling: null,
  derivedFrom: null,
  exitCode: 0,
  startedAt: NOW,
  endedAt: NOW,
  reasons: [],
  warnings: [],
  retriedCalls: 0,
  ...values,
  counts: { ...countsOf(), ...values.counts },
});

export const countsOf = (values: Partial<RunDetails['counts']> = {}): RunDetails['counts'] => ({
  passed: 0,
  failed: 0,
  invalid: 0,
  error: 0,
  cancelled: 0,
  pending: 0,
  provisional: 0,
  ...values,
});

export const callOf = (values: Partial<Call> = {}): Call => ({
  id: 'call',
  runId: 'run',
  agentId: 'agent',
  workspaceId: 'workspace',
  evaluationId: 'evaluation',
  evaluationName: 'Books a table',
  caseKey: values.evaluationId ?? 'evaluation',
  variables: null,
  repetition: 1,
  status: 'ENDED',
  outcome: 'passed',
  preliminary: null,
  provisional: false,
  score: 100,
  reason: 'All was met.',
  attempts: [],
  retries: 0,
  latencies: [],
  startedAt: NOW,
  endedAt: NOW,
  createdAt: NOW,
  updatedAt: NOW,
  ...values,
});

/** A case that became worse. */
export function comparisonOf(name: string, values: Partial<RunComparison> = {}): RunComparison {
  const latency = { count: 20, p50: 400, p90: 700, p95: 800, p99: 900, worst: 900, clock: 'heard' as const };
  const rate = (low: number, high: number) => ({ interval: { low, high }, passRateInterval: { low, high } });
  const before = {
    ...{ runId: 'earlier', agentId: 'agent' },
    counted: 20,
    passed: 19,
    passRate: 0.95,
    ...rate(0.76, 0.99),
    score: 97.5,
    latency,
  };
  const now = { ...before, runId: 'run', passed: 12, passRate: 0.6, ...rate(0.39, 0.78), score: 80 };
  const run = {
    id: 'run',
    name,
    status: 'COMPLETED' as const,
    agentName: name,
    agentVersion: name,
    endedAt: NOW,
    agentVariables: {},
    assistantVersion: null,
  };
  const overall = { change: 'worse', pValue: 0.01, callsNeeded: null } as const;
  return {
    ...overall,
    overall,
    current: { ...run, ...now },
    baseline: { ...run, ...before, id: 'earlier' },
    cases: [
      {
        caseKey: 'case',
        evaluationId: 'case',
        key: null,
        row: null,
        name,
        ...overall,
        current: now,
        baseline: before,
      },
    ],
    onlyInCurrent: 0,
    onlyInBaseline: 0,
    warnings: [name],
    ...values,
  };
}

/** Runs of several agents with the same results. @param differences that of each run in each case; null for the first */
export function matrixOf(
  names: readonly string[],
  differences: readonly RunMatrix['runs'][number]['difference'][],
): RunMatrix {
  const { current } = comparisonOf('Nightly');
  const latency = { ...current.latency, clock: 'text' as const };
  const runs = differences.map((difference, index) => ({
    ...{
      ...current,
      id: `run-${index}`,
      runId: `run-${index}`,
      agentId: `agent-${index}`,
      agentName: `Agent ${index}`,
    },
    ...{ name: 'Nightly', agentVersion: 'v1', protocol: 'chat-completions', latency, difference },
  }));
  const cases = names.map((name) => ({
    ...{ caseKey: name, evaluationId: name, key: name, row: null, name },
    results: runs,
  }));
  return { runs, cases, warnings: ['A warning'] };
}
