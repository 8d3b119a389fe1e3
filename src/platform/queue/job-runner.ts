import { EventEmitter, setMaxListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import { parseCronItems, run, type Runner, type RunnerOptions, type TaskList } from 'graphile-worker';
import type { Pool } from 'pg';
import { isDatabaseUnavailable } from '../database/failures.js';
import { messageOf } from '../errors/message-of.js';
import { during } from '../observability/activity.js';
import type { JobKind } from './job.js';
import type { HandledJob } from './queue.js';
import { queueLogger } from './queue-logger.js';
import { QUEUE_SCHEMA } from './queue-schema.js';
import { retryingPool } from './retrying-pool.js';
import type { WorkerRegistry } from './worker-registry.js';

/** How late a scheduled job may start, in milliseconds; other jobs are announced by NOTIFY. */
const POLL_MS = 1_000;
/** How long fetched jobs may wait in this process before they are returned to the queue, in milliseconds. */
const LOCAL_QUEUE_TTL_MS = 5_000;
/** On shutdown: how long jobs may continue before their signal fires, in milliseconds. */
const GRACE_MS = 5_000;
/** How long jobs may take to end after their signal has fired, in milliseconds. */
const RETURN_MS = 3_000;
const MIN_RESTART_DELAY_MS = 250;
const MAX_RESTART_DELAY_MS = 5_000;

export interface JobRunnerOptions {
  readonly kind: JobKind;
  readonly jobs: readonly HandledJob[];
  readonly concurrency: number;
  readonly pool: Pool;
  readonly registry: WorkerRegistry;
}

/**
 * Runs the jobs of one kind with graphile-worker, and restarts it whenever it fails.
 *
 * - Running: one graphile-worker pool exists, which fetches jobs in batches.
 * - Restarting: the pool has ended, or did not end within the time that jobs have. The next one starts after a delay,
 *   which doubles up to 5 s while pools end soon after their start.
 * - Stopped: for good, by `stop`. Jobs have `GRACE_MS` to complete, then their signals fire and they have
 *   `RETURN_MS` to end.
 */
export class JobRunner {
  private readonly logger = new Logger('Queue');
  /** Ends the retries of statements that wait for the database. */
  private readonly stopRetries = new AbortController();
  private runner: Runner | undefined;
  private stopped = false;
  private running: Promise<void> = Promise.resolve();
  private wake: () => void = () => undefined;

  constructor(private readonly options: JobRunnerOptions) {}

  start(): void {
    this.running = this.keepRunning();
  }

  /** Fetches no more jobs, and waits a bounded time for the running ones to end. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.wake();
    const { runner } = this;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, GRACE_MS + RETURN_MS)));
    const ended = (async () => {
      await runner?.stop().catch(() => undefined);
      await this.running;
    })();
    await Promise.race([ended, late]);
    clearTimeout(timer);
    this.stopRetries.abort();
  }

  private async keepRunning(): Promise<void> {
    let delay = MIN_RESTART_DELAY_MS;
    while (!this.stopped) {
      const startedAt = performance.now();
      await this.runOnce().catch((error: unknown) => {
        this.logger.warn(`Job runner "${this.options.kind}" stopped: ${messageOf(error)}`);
      });
      if (this.stopped) return;
      const wasStable = performance.now() - startedAt > MAX_RESTART_DELAY_MS;
      delay = wasStable ? MIN_RESTART_DELAY_MS : Math.min(delay * 2, MAX_RESTART_DELAY_MS);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, delay);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  private async runOnce(): Promise<void> {
    const { registry, pool, concurrency } = this.options;
    let name = '';
    const events: NonNullable<RunnerOptions['events']> = new EventEmitter();
    events.on('pool:create', ({ workerPool }) => {
      name = workerPool.id;
      // Registered before its first job, so that other processes can detect a dead owner.
      registry.add(name);
      registry.heartbeat().catch(() => undefined);
    });
    events.on('localQueue:getJobs:complete', ({ jobs }) => registry.track(name, jobs));
    events.on('localQueue:returnJobs', ({ jobs }) => registry.untrack(name, jobs));
    events.on('job:complete', ({ job }) => registry.untrack(name, [job]));
    // graphile-worker 0.17 shuts a failed pool down, but this may hang: after the time that jobs have to end, the pool is
    // abandoned.
    let reason: unknown = 'graphile-worker ended';
    events.on('pool:fatalError', ({ error }) => (reason = error));
    const stuck = new Promise<never>((_, reject) => {
      events.once('pool:gracefulShutdown', () => {
        setTimeout(() => reject(asError(reason)), GRACE_MS + RETURN_MS).unref();
      });
    });
    stuck.catch(() => undefined);
    try {
      this.runner = await run({
        schema: QUEUE_SCHEMA,
        pgPool: retryingPool(pool, this.stopRetries.signal),
        concurrency,
        pollInterval: POLL_MS,
        noHandleSignals: true,
        logger: queueLogger,
        events,
        taskList: this.taskList(),
        parsedCronItems: this.cronItems(),
        preset: {
          worker: {
            // One query fetches jobs for all slots; without it each idle slot would poll on its own.
            localQueue: { size: concurrency, ttl: LOCAL_QUEUE_TTL_MS },
            // Batched even without a delay: errors of single completions would be unhandled rejections.
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
            gracefulShutdownAbortTimeout: GRACE_MS,
          },
        },
      });
      // Stopped while it was starting.
      if (this.stopped) await this.runner.stop();
      await Promise.race([this.runner.promise, stuck]);
      if (!this.stopped) throw asError(reason);
    } finally {
      this.runner = undefined;
      if (name !== '') await registry.remove(name).catch(() => undefined);
    }
  }

  private taskList(): TaskList {
    return Object.fromEntries(
      this.options.jobs.map(({ job, handler }) => [
        job.name,
        async (payload: unknown, { abortSignal, job: { id } }: { abortSignal?: AbortSignal; job: { id: string } }) => {
          const signal = abortSignal ?? new AbortController().signal;
          // All jobs of the process share the signal: many listeners are not a leak.
          setMaxListeners(0, signal);
          try {
            await during({ job: job.name, jobId: id }, () => handler(payload ?? {}, { signal }));
          } catch (error) {
            const failure = new Error(`The job ${job.name} failed and will be retried`, { cause: error });
            this.logger[isDatabaseUnavailable(error) ? 'warn' : 'error'](failure);
            throw error;
          }
        },
      ]),
    );
  }

  private cronItems() {
    return parseCronItems(
      this.options.jobs.flatMap(({ job }) =>
        job.cron === undefined ? [] : [{ task: job.name, match: job.cron, identifier: job.name }],
      ),
    );
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
