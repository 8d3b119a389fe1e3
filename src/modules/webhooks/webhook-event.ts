/** Types of events that the service sends. */
export const WEBHOOK_EVENT_TYPES = [
  'run.completed',
  'run.failed',
  'agent.score_dropped',
  'evaluation.critical_failed',
  'schedule.not_run',
  'agent.degraded',
  'agent.recovered',
  'tester.unavailable',
  'monitoring.paused',
  'webhook.test',
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** A run with its metrics, as in responses. */
export interface RunData {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly agentId: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly metrics: { readonly status: string; readonly score: number; readonly totalCalls: number };
}

/** A case of a run that did not pass. */
export interface FailedCase {
  /** That of its evaluation. */
  readonly key: string | null;
  /** Name of the evaluation, with the values of its row. */
  readonly name: string;
  readonly outcome: 'failed' | 'invalid' | 'error';
  /** Of its first call with this outcome. */
  readonly reason: string | null;
}

/** Counted calls, and the share of them that passed or, of latencies, were slow. */
export interface CallShare {
  readonly counted: number;
  readonly share: number;
}

/** The schedule that an event is about. */
interface ScheduleData {
  readonly agentId: string;
  readonly agentName: string | null;
  readonly scheduleId: string;
  readonly scheduleName: string;
}

/** The schedule, or the days of production calls, which have no id. */
interface WatchedData extends Omit<ScheduleData, 'scheduleId'> {
  readonly scheduleId: string | null;
}

/** What the events of an alarm have in common. */
export interface AlarmData extends WatchedData {
  readonly alarmId: string;
  readonly measure: 'passed' | 'slow';
  /** Null: all cases together. */
  readonly caseKey: string | null;
  readonly caseName: string | null;
  readonly since: string;
  readonly sinceRunId: string;
  readonly looks: number;
  readonly pValue: number;
  readonly now: CallShare;
  readonly before: CallShare;
  /** The three worst. */
  readonly worstCases: readonly {
    readonly caseKey: string;
    readonly name: string;
    readonly now: CallShare;
    readonly before: CallShare;
    readonly thresholdMs: number | null;
  }[];
  readonly reportUrl: string | null;
}

/** The `data` of each event type. */
export interface WebhookEventData {
  'run.completed': { readonly run: RunData; readonly reportUrl: string | null };
  'run.failed': {
    readonly run: RunData;
    readonly reason: string;
    readonly reportUrl: string | null;
    readonly failedCases: readonly FailedCase[];
  };
  'agent.score_dropped': {
    readonly agentId: string;
    readonly agentName: string | null;
    readonly runId: string;
    readonly score: number;
    readonly previousScore: number;
    readonly scoreThreshold: number;
  };
  'evaluation.critical_failed': {
    readonly runId: string;
    readonly evaluationId: string;
    readonly callId: string;
    readonly failedCriteria: readonly string[];
  };
  'schedule.not_run': ScheduleData & {
    /** The first due time in a row without a run. */
    readonly since: string;
    /** Number of due times in a row without a run. */
    readonly notRun: number;
    /** Of the last one. */
    readonly reason: 'missed' | 'refused' | 'overlap';
    /** Why it was refused, one sentence each. */
    readonly issues: readonly string[];
  };
  'agent.degraded': AlarmData & { readonly isReminder: boolean };
  'agent.recovered': AlarmData & {
    readonly endedBy: 'recovered' | 'accepted' | 'new_version' | 'case_removed' | 'schedule_deleted';
  };
  'tester.unavailable': WatchedData & {
    readonly runId: string;
    readonly calls: number;
    /** Of these calls. */
    readonly notJudged: number;
  };
  'monitoring.paused': {
    readonly agentId: string;
    readonly agentName: string | null;
    /** Why, in the words of the platform. */
    readonly message: string;
  };
  'webhook.test': { readonly endpointId: string; readonly message: string };
}

/** The body of an event, as it is stored and sent on every attempt, byte for byte. */
export function eventBody<Type extends WebhookEventType>(type: Type, timestamp: Date, data: WebhookEventData[Type]) {
  return JSON.stringify({ type, timestamp: timestamp.toISOString(), data });
}
