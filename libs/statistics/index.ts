/** Outcomes of calls and the statistics of runs: scores, pass rates, latencies, gate. Pure functions. */
export {
  type CriticalEvaluation,
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
  evaluationStatistics,
  type EvaluationStatistics,
  type Interval,
  passAtK,
  passHatK,
  runScore,
  type Stability,
  wilsonInterval,
} from './run-statistics.js';
