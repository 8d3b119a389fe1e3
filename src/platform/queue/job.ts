/**
 * Kinds of jobs. Each has its own share of a process, so that many jobs of one kind never delay another: webhook deliveries mostly
 * wait for receivers, and maintenance is not urgent.
 */
export const JOB_KINDS = ['webhooks', 'maintenance'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export interface JobOptions {
  /** Unique, for instance `webhooks.deliver`; stored with every job, so a change needs the old name to be kept too. */
  readonly name: string;
  readonly kind: JobKind;
  /** The total number of attempts when the handler throws, with growing delays. */
  readonly maxAttempts?: number;
  /** Schedule in crontab syntax, UTC; each time, one process runs the job. */
  readonly cron?: string;
}

/** A type of job; `Payload` is stored with each job as JSON. */
export interface Job<Payload extends object> extends JobOptions {
  /** Never set: it only makes the type parameter visible to the compiler. */
  readonly payloadType?: Payload;
}

/** Defines a type of job and its payload. */
export const defineJob = <Payload extends object>(options: JobOptions): Job<Payload> => options;

export interface JobContext {
  /** Fires when the process shuts down: the job must end or return its work within seconds. */
  readonly signal: AbortSignal;
}

/**
 * Runs a job. It may be called twice for one job, even at the same time, because a process that was considered dead can
 * resume.
 */
export type JobHandler<Payload> = (payload: Payload, context: JobContext) => Promise<void>;

export interface EnqueueOptions {
  /** Not before this time; at once unless given. */
  readonly runAt?: Date;
  /** Replaces a job with this key that has not started. */
  readonly jobKey?: string;
  readonly maxAttempts?: number;
}
