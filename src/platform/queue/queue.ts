import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { EnqueueOptions, Job, JobHandler } from './job.js';

const ADD_JOB = `
  SELECT graphile_worker.add_job(identifier => $1::text, payload => $2::json, run_at => $3::timestamptz,
                                 max_attempts => $4::integer, job_key => $5::text)`;

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

  /** Adds a job in the caller's transaction, so that the job exists if and only if its cause was committed. */
  async enqueue<Payload extends object>(
    job: Job<Payload>,
    payload: Payload,
    { runAt, jobKey, maxAttempts = job.maxAttempts }: EnqueueOptions = {},
  ): Promise<void> {
    await this.database.query(ADD_JOB, [
      job.name,
      JSON.stringify(payload),
      runAt ?? null,
      maxAttempts ?? null,
      jobKey ?? null,
    ]);
  }

  /** Registers the handler of a job. Call it before the application has started. */
  handle<Payload extends object>(job: Job<Payload>, handler: JobHandler<Payload>): void {
    if (this.handlers.has(job.name)) throw new Error(`The job ${job.name} already has a handler`);
    // The payload comes back as it was enqueued: `enqueue` accepts nothing else under this name.
    this.handlers.set(job.name, { job, handler: handler as JobHandler<object> });
  }

  /** Calls `sweep` every few seconds in every process that runs jobs, after the jobs of dead processes were unlocked. */
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
