import type { Attempt, CheckResult, CriterionResult, Measures, TimelineEntry } from '../simulation/index.js';
import type { ReportedVoice } from './voice/reported-voice.js';
import type {
  CallState,
  Change,
  GateExitCode,
  GateSettings,
  Interval,
  LatencyMeasures,
  Outcome,
  Stability,
} from '../statistics/index.js';
import { between, clipped } from '../text/index.js';

/** Results of a test run. Times are ISO 8601; latencies are in milliseconds. */
export interface ReportedRun extends GateSettings {
  readonly id: string;
  readonly name: string;
  readonly agentId: string;
  /** Null if the agent is deleted. */
  readonly agentName: string | null;
  /** Version of the agent, for instance a commit. */
  readonly agentVersion: string | null;
  /** The run whose recorded calls it judges again; null if it called the agent. */
  readonly derivedFrom: { readonly runId: string; readonly kind: 'remeasure' | 'rejudge' } | null;
  /** Present for a day of production calls, which has no gate. */
  readonly isProduction?: true;
  readonly status: 'QUEUED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED';
  /** 0 to 100; null if no call is counted. */
  readonly score: number | null;
  /** Null until the run has ended. */
  readonly exitCode: GateExitCode | null;
  /** Why the gate is not met, as sentences. */
  readonly reasons: readonly string[];
  /** What the gate could not compare, as sentences. */
  readonly warnings: readonly string[];
  /** Calls per case. */
  readonly repeat: number;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly counts: ReportedCounts;
  /** Calls that needed a second attempt. */
  readonly retriedCalls: number;
  /** Billed by the platform of the agent, over all attempts; null if it does not bill. */
  readonly paidSeconds: number | null;
  /** Calls for which no line of their platform was free at first. */
  readonly callsThatWaited: number;
  /** With the run of the gate, or else with the previous one; null if there is none. */
  readonly comparison: ReportedComparison | null;
  /** Beside several other runs; null if that was not asked for. */
  readonly matrix: ReportedMatrix | null;
  /** Address of the service from outside, without a slash at the end; null if it is unknown. */
  readonly serviceUrl: string | null;
  /** Address of a recording for readers without an API key, null if they may not hear it; absent for readers with one. */
  readonly recordingOf?: (callId: string) => string | null;
  /** In the order of the plan. */
  readonly evaluations: readonly ReportedEvaluation[];
}

/** A run beside an earlier one. Pass rates are those of the shared cases; scores and latencies those of the runs. */
export interface ReportedComparison {
  /** Of all shared cases together. */
  readonly change: Change;
  readonly current: ReportedRunSide;
  readonly baseline: ReportedRunSide & {
    readonly id: string;
    readonly name: string;
    readonly agentVersion: string | null;
    /** ISO 8601. */
    readonly endedAt: string | null;
  };
  readonly cases: readonly ReportedCase[];
  /** What could not be compared, as sentences. */
  readonly warnings: readonly string[];
}

export interface ReportedCase {
  /** Display name. */
  readonly name: string;
  readonly change: Change;
  /** Counted calls that each run needs to decide; null if decided. */
  readonly callsNeeded: number | null;
  readonly current: ReportedSide;
  readonly baseline: ReportedSide;
}

export interface ReportedSide {
  readonly counted: number;
  readonly passed: number;
  readonly passRate: number | null;
  readonly passRateInterval: Interval | null;
  readonly score: number | null;
  readonly latency: LatencyMeasures;
}

/** Results of a whole run, with what tells the agents and the clocks of both runs apart. */
export interface ReportedRunSide extends ReportedSide {
  readonly agentId: string;
  readonly agentName: string | null;
  readonly latency: LatencyMeasures & { readonly clock: string | null };
}

/** Runs side by side. */
export interface ReportedMatrix {
  /** The run of the report comes first. */
  readonly runs: readonly ReportedColumn[];
  readonly cases: readonly ReportedMatrixCase[];
  /** What could not be compared, as sentences. */
  readonly warnings: readonly string[];
}

export interface ReportedMatrixCase {
  /** Display name. */
  readonly name: string;
  /** Of the runs that have the case. */
  readonly results: readonly (ReportedMatrixSide & { readonly runId: string })[];
}

export interface ReportedMatrixSide extends ReportedSide {
  /** To the first run; null for that run. */
  readonly difference: { readonly change: Change } | null;
}

/** A whole run. Pass rate: of the cases that it shares with the first one. */
export interface ReportedColumn extends ReportedRunSide, ReportedMatrixSide {
  readonly id: string;
  readonly name: string;
  readonly agentVersion: string | null;
  readonly protocol: string | null;
  readonly latency: ReportedRunSide['latency'];
}

export interface ReportedCounts {
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly invalid: number;
  readonly error: number;
  readonly cancelled: number;
  readonly pending: number;
  /** Ended calls of provisional evaluations. */
  readonly provisional: number;
}

/** A case of the plan: an evaluation, or one of its rows of variables. */
export interface ReportedEvaluation {
  /** Id of the evaluation. */
  readonly id: string;
  readonly caseKey: string;
  readonly key: string | null;
  /** Name of the evaluation, with the values of the row (`caseName`). */
  readonly name: string;
  /** Language of its calls, BCP 47; null if it is not known. */
  readonly language: string | null;
  readonly tags: readonly string[];
  readonly critical: boolean;
  /** Passed and failed calls. */
  readonly counted: number;
  readonly passed: number;
  readonly failed: number;
  readonly invalid: number;
  readonly error: number;
  /** Ended calls, if it was provisional: then they have none of the other outcomes here. */
  readonly provisional: number;
  /** Calls that needed a second attempt. */
  readonly retried: number;
  /** All calls, including pending and cancelled ones. */
  readonly total: number;
  /** Sum of `durationOf` its calls. */
  readonly durationMs: number;
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
  /** Its name where it was recorded; null for a call of this service. */
  readonly externalId: string | null;
  readonly evaluationId: string;
  readonly caseKey: string;
  /** From 1. */
  readonly repetition: number;
  readonly status: 'QUEUED' | 'RUNNING' | 'ENDED' | 'CANCELLED';
  readonly outcome: Outcome | null;
  /** Whether its outcome is not counted, because its evaluation was provisional. */
  readonly provisional: boolean;
  readonly score: number | null;
  readonly reason: string | null;
  /** Of the attempt that counts. */
  readonly failureCode: Attempt['failureCode'];
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly attempts: number;
  /** Attempts after an `error` or an `invalid` one; those after an interruption do not count. */
  readonly retries: number;
  /** The attempts before the one that counts, oldest first. */
  readonly earlierAttempts: readonly ReportedAttempt[];
  readonly timeline: readonly TimelineEntry[];
  readonly checks: readonly CheckResult[];
  readonly criteria: readonly CriterionResult[];
  readonly measures: Measures | null;
  /** Null for a text call. */
  readonly voice: ReportedVoice | null;
}

export interface ReportedAttempt extends Pick<Attempt, 'outcome' | 'failureCode' | 'reason' | 'startedAt' | 'endedAt'> {
  /** The id that the agent received; null if it was not called. */
  readonly callId: string | null;
  /** Empty if the attempt was interrupted. */
  readonly timeline: readonly TimelineEntry[];
  /** Whether parts of its result were not stored because it was too large. */
  readonly isShortened: boolean;
}

/** Filter of calls; an omitted field does not filter. */
export interface WantedCalls {
  readonly evaluationIds?: readonly string[];
  readonly outcomes?: readonly Outcome[];
}

/**
 * Reads the calls of a run from the database, ordered by evaluation and repetition. Reports read them more than once, keep
 * none in memory and may stop early. The filter is a hint: a reader that ignores it is correct, but slower.
 */
export type CallReader = (wanted: WantedCalls) => AsyncIterable<ReportedCall>;

/** The reason of a call, cut at `max`; of one that ended as error with its code, with which the guides are searched. */
export function reasonOf({ reason, outcome, failureCode }: ReportedCall, max: number): string {
  const text = clipped(reason ?? '', max);
  return outcome === 'error' && failureCode !== null ? `${text} (${failureCode})` : text;
}

export const stateOf = ({
  outcome,
  provisional,
  status,
}: Pick<ReportedCall, 'outcome' | 'provisional' | 'status'>): CallState =>
  outcome === null ? (status === 'CANCELLED' ? 'cancelled' : 'pending') : provisional ? 'provisional' : outcome;

/** How long a call took, in whole milliseconds; 0 before it has ended. */
export const durationOf = ({ measures, startedAt, endedAt }: ReportedCall): number =>
  Math.round(measures?.durationMs ?? between(startedAt, endedAt) ?? 0);
