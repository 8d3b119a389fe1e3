/** Outcomes of calls and the statistics of runs: scores, pass rates, latencies, comparison of runs, gate. Pure functions. */
export { accountLimitNote } from './account-limit.js';
export { comparisonWarnings, NO_PREVIOUS_RUN } from './baseline.js';
export { CASE_STATES, type CaseState, caseState, redSince } from './case-state.js';
export {
  type Change,
  CHANGES,
  compareCases,
  comparePairs,
  type Difference,
  type PassCounts,
  type SharedCase,
} from './comparison.js';
export {
  type CaseLook,
  type CaseLooks,
  type Fall,
  type FallenCase,
  LOOKS_USED,
  type MarkedCounts,
  type Measure,
  MEASURES,
} from './fall.js';
export { type Fallen, findFalls, type Learning, learning, NAMED_CASES, recoveredFrom } from './falls.js';
export { type FindableFall, findableFalls } from './findable-falls.js';
export { gate, type Gate, gateConditions, type GateExitCode, type GateInput, type GateSettings } from './gate.js';
export { type LatencyMeasures, latencyMeasures, MIN_TURNS_FOR_PERCENTILES, percentile } from './latency.js';
export { type CallState, evaluationState, isCounted, type Outcome } from './outcome.js';
export { undecidedChange } from './undecided-change.js';
export {
  type CountedCall,
  caseStatistics,
  type Interval,
  passAtK,
  passHatK,
  runScore,
  type Stability,
  wilsonInterval,
} from './run-statistics.js';
