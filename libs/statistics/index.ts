/** Outcomes of calls and the statistics of runs: scores, pass rates, latencies, comparison of runs, gate. Pure functions. */
export {
  type Baseline,
  type CaseCall,
  type CaseCounts,
  compareWithBaseline,
  comparisonWarnings,
  countCases,
  NO_PREVIOUS_RUN,
  type PlannedCase,
} from './baseline.js';
export {
  type Change,
  CHANGES,
  compareCases,
  type Comparison,
  type Difference,
  type PassCounts,
  type SharedCase,
} from './comparison.js';
export {
  type CriticalCase,
  gate,
  type Gate,
  gateConditions,
  type GateExitCode,
  type GateInput,
  type GateSettings,
} from './gate.js';
export { type LatencyMeasures, latencyMeasures, MIN_TURNS_FOR_PERCENTILES, percentile } from './latency.js';
export { type CallState, evaluationState, isCounted, type Outcome } from './outcome.js';
export {
  type CountedCall,
  caseStatistics,
  type CaseStatistics,
  type Interval,
  passAtK,
  passHatK,
  runScore,
  type Stability,
  wilsonInterval,
} from './run-statistics.js';
