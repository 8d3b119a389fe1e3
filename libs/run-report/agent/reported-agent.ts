import type { CaseState, FindableFall, Learning, Measure } from '../../statistics/index.js';

/** What tested an agent in a run. */
export interface ReportedTester {
  readonly service: string;
  readonly judge: string | null;
  readonly transcription: string | null;
  readonly speech: readonly string[];
}

/** An ended run of an agent, with its calls by outcome. */
export interface ReportedLook {
  readonly runId: string;
  /** Null once the run was deleted. */
  readonly name: string | null;
  readonly endedAt: string;
  readonly scheduleId: string | null;
  readonly agentVersion: string | null;
  readonly tester: ReportedTester;
  readonly passed: number;
  readonly failed: number;
  readonly invalid: number;
  readonly error: number;
  /** Of the median latencies of the counted calls, in milliseconds; null without one. */
  readonly p50: number | null;
  readonly p95: number | null;
}

/** How a case ended in a run, and the call that shows it best: the plan's position of the case, and the repetition of the call. */
export interface ReportedCaseResult {
  readonly runId: string;
  readonly endedAt: string;
  readonly state: CaseState;
  readonly passed: number;
  readonly counted: number;
  readonly position: number;
  readonly repetition: number;
}

export interface ReportedAgentCase {
  readonly name: string;
  /** In the runs of its stream, newest first; a run may lack the case. */
  readonly results: readonly ReportedCaseResult[];
  /** The first of the runs since which it is red; null if it is green. */
  readonly redSince: ReportedCaseResult | null;
  /** Whether it has been red for as long as results are shown, and perhaps for longer. */
  readonly isRedThroughout: boolean;
}

/** The runs of an enabled schedule, or all others together. Different streams test different cases, so they do not mix. */
export interface ReportedStream {
  /** Null: the runs that no enabled schedule started. */
  readonly scheduleId: string | null;
  /** Of the schedule. */
  readonly name: string | null;
  /** The newest runs, oldest first. */
  readonly runs: readonly ReportedStreamRun[];
  /** In the order of the newest plan. */
  readonly cases: readonly ReportedAgentCase[];
}

export interface ReportedStreamRun {
  readonly runId: string;
  readonly endedAt: string;
  /** Null once the run was deleted. */
  readonly gate: 'met' | 'not_met' | 'not_tested' | null;
}

/** The newest looks of a schedule, or of production calls, were worse than those before them. */
export interface ReportedAlarm {
  readonly scheduleName: string;
  readonly measure: Measure;
  /** Null: all cases together. */
  readonly caseName: string | null;
  readonly since: string;
  readonly isOpen: boolean;
}

/** What alarms find in a schedule, or in the days of production calls, by the newest look. */
export interface WatchedSchedule {
  readonly name: string;
  /** What a look is. */
  readonly unit: 'run' | 'day';
  /** Null if alarms are possible. */
  readonly learning: Learning | null;
  readonly findable: readonly FindableFall[];
}

/** How the production calls ended that an evaluation judged. */
export interface ProductionCase {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  /** `invalid` and `error`. */
  readonly notJudged: number;
  /** Calls that it is not about. */
  readonly notApplicable: number;
  /** Calls beyond the most of a day. */
  readonly overLimit: number;
}

/** A failed production call, and why it failed. */
export interface ReportedProductionCall {
  readonly callId: string;
  /** On its platform. */
  readonly externalId: string | null;
  readonly runId: string;
  /** Of its evaluation. */
  readonly name: string;
  readonly startedAt: string;
  readonly position: number;
  readonly repetition: number;
  /** Null once its words were deleted. */
  readonly reason: string | null;
}

/** The stored days of production calls in the period. */
export interface ReportedProduction {
  /** The first and the last day (UTC), YYYY-MM-DD, and their number. */
  readonly from: string;
  readonly to: string;
  readonly days: number;
  readonly cases: readonly ProductionCase[];
  /** The newest ones, newest first; null for readers who see no words of production calls. */
  readonly failed: readonly ReportedProductionCall[] | null;
}

/** An agent over time. */
export interface ReportedAgent {
  readonly id: string;
  readonly name: string | null;
  /** Length of the period, and its end. */
  readonly days: number;
  readonly to: string;
  readonly nextRunAt: string | null;
  /** Open ones, and those found in the period. */
  readonly alarms: readonly ReportedAlarm[];
  /** Enabled schedules with a look, and production calls. */
  readonly schedules: readonly WatchedSchedule[];
  /** Oldest first. */
  readonly looks: readonly ReportedLook[];
  /** Ended runs in the period, of which the newest are `looks`. */
  readonly runs: number;
  /** Those of schedules first. */
  readonly streams: readonly ReportedStream[];
  /** Null without production calls. */
  readonly production: ReportedProduction | null;
  /** Address of the report of a run; undefined once the run was deleted. */
  readonly reportOf: (runId: string) => string | undefined;
  /** Address of the page for other periods; undefined where there is none. */
  readonly pageOf?: (days: number) => string;
}
