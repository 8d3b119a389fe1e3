import type { ReportedComparison, ReportedSide as Side } from '../index.js';

/** A comparison with a run of this name, in which each of these cases became worse. */
export function comparisonWith(names: readonly string[], run: string): ReportedComparison {
  const latency = { count: 20, p50: 400, p90: 700, p95: 800, p99: 900, worst: 900 };
  const before = { passed: 19, passRate: 0.95, passRateInterval: { low: 0.76, high: 0.99 }, score: 97.5 };
  const now = { passed: 12, passRate: 0.6, passRateInterval: { low: 0.39, high: 0.78 }, score: 80 };
  const [baseline, current] = [before, now].map((side) => ({ counted: 20, latency, ...side })) as [Side, Side];
  const agent = { agentId: 'agent', agentName: run, latency: { ...latency, clock: 'heard' } };
  return {
    change: 'worse',
    current: { ...current, ...agent },
    baseline: {
      ...baseline,
      ...agent,
      id: 'earlier',
      name: run,
      agentVersion: run,
      endedAt: '2026-11-21T06:37:42.758Z',
    },
    cases: names.map((name) => ({ name, change: 'worse', callsNeeded: null, current, baseline })),
    warnings: [run],
  };
}
