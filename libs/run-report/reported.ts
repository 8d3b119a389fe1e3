import type { CheckResult, CriterionResult, Measures, TimelineEntry } from '../simulation/index.js';
import type { CallState, Outcome, Stability } from '../statistics/index.js';

/** What a test run came to, as far as reports show it. Times are ISO 8601; latencies milliseconds. */
export interface ReportedRun {
  readonly id: string;
  readonly name: string;
  readonly agentId: string;
  /** Null for an agent that is deleted. */
  readonly agentName: string | null;
  readonly status: 'QUEUED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED';
  /** 0 to 100; null while nothing is counted. */
  readonly score: number | null;
  readonly minimumScore: number | null;
  /** Why the gate is not met, each a sentence; empty otherwise. */
  readonly reasons: readonly string[];
  /** Calls per evaluation. */
  readonly repeat: number;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly counts: ReportedCounts;
  /** In the order of the plan. */
  readonly evaluations: readonly ReportedEvaluation[];
}

export interface ReportedCounts {
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly invalid: number;
  readonly error: number;
  readonly cancelled: number;
  readonly pending: number;
}

export interface ReportedEvaluation {
  readonly id: string;
  readonly key: string | null;
  readonly name: string;
  readonly tags: readonly string[];
  readonly critical: boolean;
  /** Passed and failed calls. */
  readonly counted: number;
  readonly passed: number;
  readonly failed: number;
  readonly invalid: number;
  readonly error: number;
  /** All calls; those not named above are still to come, or were cancelled. */
  readonly total: number;
  readonly stability: Stability | null;
  /** 0 to 1. */
  readonly passRate: number | null;
  readonly passRateInterval: { low: number; high: number } | null;
  /** Mean of its counted calls. */
  readonly score: number | null;
  /** Response latencies of its counted calls, in milliseconds. */
  readonly latencies: readonly number[];
}

export interface ReportedCall {
  readonly id: string;
  readonly evaluationId: string;
  /** From 1. */
  readonly repetition: number;
  readonly status: 'QUEUED' | 'RUNNING' | 'ENDED' | 'CANCELLED';
  readonly outcome: Outcome | null;
  readonly score: number | null;
  readonly reason: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly attempts: number;
  readonly timeline: readonly TimelineEntry[];
  readonly checks: readonly CheckResult[];
  readonly criteria: readonly CriterionResult[];
  readonly measures: Measures | null;
}

/** Of which calls a reader of them has need; without a field, of all. */
export interface WantedCalls {
  readonly evaluationIds?: readonly string[];
  readonly outcomes?: readonly Outcome[];
}

/**
 * Reads a run's calls from their store, in order of evaluation, then repetition; reports read them more than once and
 * hold none. May leave out what is not wanted, and need not: a function without parameters that always gives all calls
 * is right, only slower. A reader that has seen enough stops early.
 */
export type CallReader = (wanted: WantedCalls) => AsyncIterable<ReportedCall>;

export const stateOf = ({ outcome, status }: Pick<ReportedCall, 'outcome' | 'status'>): CallState =>
  outcome ?? (status === 'CANCELLED' ? 'cancelled' : 'pending');
