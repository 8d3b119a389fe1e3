import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { EnqueueOptions, Job, JobHandler } from './job.js';

const ADD_JOB = `
  SELECT graphile_worker.add_job(identifier => $1::text, payload => $2::json, run_at => $3::timestamptz,
                                 max_attempts => $4::integer, job_key => $5::text, priority => $6::integer)`;

/** Of a job that waits already under its key, the place in the queue stays: adding it again must not hold it back. */
const ADD_JOBS = `
  SELECT graphile_worker.add_job(identifier => $1::text, payload => j.payload, max_attempts => $2::integer,
                                 job_key => j.key, job_key_mode => 'preserve_run_at', priority => j.priority)
    FROM json_to_recordset($3) AS j (payload json, key text, priority integer)`;

export interface HandledJob {
  readonly job: Job<object>;
  readonly handler: JobHandler<object>;
}

/** The job queue, in the same database as everything else. */
@Injectable()
export class Queue {
  private readonly handlers = new Map<string, HandledJob>();
  private readonly sweeps: (() => Promise<void>)[] = [];

  constructor(private readonly database: Database) {}

  /** Puts a job into the queue, in the transaction around the caller: a job exists if and only if its cause does. */
  async enqueue<Payload extends object>(
    job: Job<Payload>,
    payload: Payload,
    { runAt, jobKey, maxAttempts = job.maxAttempts, priority }: EnqueueOptions = {},
  ): Promise<void> {
    await this.database.query(ADD_JOB, [
      job.name,
      JSON.stringify(payload),
      runAt ?? null,
      maxAttempts ?? null,
      jobKey ?? null,
      priority ?? null,
    ]);
  }

  /** Puts many jobs into the queue; those whose key waits there already are left where they are. */
  async enqueueAll<Payload extends object>(
    job: Job<Payload>,
    jobs: readonly { readonly payload: Payload; readonly key: string; readonly priority?: number }[],
  ): Promise<void> {
    if (jobs.length === 0) return;
    await this.database.query(ADD_JOBS, [job.name, job.maxAttempts ?? null, JSON.stringify(jobs)]);
  }

  /** Says who carries out jobs of this name. To be called before the application has started. */
  handle<Payload extends object>(job: Job<Payload>, handler: JobHandler<Payload>): void {
    if (this.handlers.has(job.name)) throw new Error(`The job ${job.name} has a handler already`);
    // The payload comes back as it was enqueued: `enqueue` accepts nothing else under this name.
    this.handlers.set(job.name, { job, handler: handler as JobHandler<object> });
  }

  /** Calls `sweep` every few seconds in every process that carries out jobs, after the jobs of dead ones were freed. */
  onSweep(sweep: () => Promise<void>): void {
    this.sweeps.push(sweep);
  }

  get handled(): readonly HandledJob[] {
    return [...this.handlers.values()];
  }

  get sweepers(): readonly (() => Promise<void>)[] {
    return this.sweeps;
  }
}
