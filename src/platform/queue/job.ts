/**
 * Kinds of jobs. Each has its own share of a process, so that many jobs of one kind never hold up another:
 * deliveries of webhooks mostly wait for others, calls cost work, maintenance can wait.
 */
export const JOB_KINDS = ['webhooks', 'calls', 'maintenance'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export interface JobOptions {
  /** Unique, for instance `webhooks.deliver`; stored with every job, so a change needs the old name to be kept too. */
  readonly name: string;
  readonly kind: JobKind;
  /** The total number of attempts when the handler throws, with growing delays. */
  readonly maxAttempts?: number;
  /** Runs by itself at these times (crontab, UTC), once among all processes. */
  readonly cron?: string;
}

/** A task that can be put into the queue; the type parameter is what a job carries, as JSON. */
export interface Job<Payload extends object> extends JobOptions {
  /** Carries the type only. */
  readonly payloadType?: Payload;
}

/** Names a task and says what its jobs carry. */
export const defineJob = <Payload extends object>(options: JobOptions): Job<Payload> => options;

export interface JobContext {
  /** Fires when the process shuts down: the job must end or return its work within seconds. */
  readonly signal: AbortSignal;
}

/**
 * Runs a job. It may be called twice for one job, even at the same time, because a process that was considered dead can
 * come back.
 */
export type JobHandler<Payload> = (payload: Payload, context: JobContext) => Promise<void>;

export interface EnqueueOptions {
  /** Not before this time; at once unless given. */
  readonly runAt?: Date;
  /** Replaces a job with this key that has not begun. */
  readonly jobKey?: string;
  readonly maxAttempts?: number;
  /** Lower runs first; 0 unless given. */
  readonly priority?: number;
}
