import { EventEmitter, setMaxListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import { parseCronItems, run, type Runner, type RunnerOptions, type TaskList } from 'graphile-worker';
import type { Pool } from 'pg';
import { isDatabaseUnavailable } from '../database/failures.js';
import { messageOf } from '../errors/message-of.js';
import type { JobKind } from './job.js';
import type { HandledJob } from './queue.js';
import { patientPool } from './patient-pool.js';
import { queueLogger } from './queue-logger.js';
import type { WorkerRegistry } from './worker-registry.js';

/** How late a job with a time of its own may be, in milliseconds; others are announced. */
const POLL_MS = 1_000;
/** How long fetched jobs may wait for a place in this process before others may take them. */
const LOCAL_QUEUE_TTL_MS = 5_000;
/** When told to stop: how long jobs may go on before their signal fires, in milliseconds. */
export const GRACE_MS = 5_000;
/** And how long they may take to hand back afterwards. */
const HAND_BACK_MS = 3_000;
const FIRST_RESTART_MS = 250;
const LONGEST_RESTART_MS = 5_000;

const COUNT_WAITING = `
  SELECT count(*)::int AS count
    FROM (SELECT FROM graphile_worker.jobs
           WHERE task_identifier = ANY($1) AND locked_at IS NULL AND run_at <= now() LIMIT $2) AS waiting`;

export interface JobRunnerOptions {
  readonly kind: JobKind;
  readonly jobs: readonly HandledJob[];
  readonly concurrency: number;
  readonly pool: Pool;
  readonly registry: WorkerRegistry;
}

/** Carries out the jobs of one kind, and begins anew whenever graphile-worker has given up. */
export class JobRunner {
  private readonly logger = new Logger('Queue');
  /** Fires when what still waits for the database must give up. */
  private readonly over = new AbortController();
  private runner: Runner | undefined;
  private stopped = false;
  private running: Promise<void> = Promise.resolve();
  private wake: () => void = () => undefined;
  /** How many jobs the present pool has fetched and not begun. */
  private backlog: () => number = () => 0;

  constructor(private readonly options: JobRunnerOptions) {}

  start(): void {
    this.running = this.keepRunning();
  }

  /** Takes no new job and waits until the running ones have ended or were handed back, for a bounded time. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.wake();
    const { runner } = this;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, GRACE_MS + HAND_BACK_MS)));
    const ended = (async () => {
      await runner?.stop().catch(() => undefined);
      await this.running;
    })();
    await Promise.race([ended, late]);
    clearTimeout(timer);
    this.over.abort();
  }

  get kind(): JobKind {
    return this.options.kind;
  }

  /** How many jobs wait for a place in this process, or in none; of the latter no more than it has places. */
  async countWaiting(): Promise<number> {
    const { jobs, pool, concurrency } = this.options;
    const names = jobs.map(({ job }) => job.name);
    const { rows } = await pool.query<{ count: number }>(COUNT_WAITING, [names, concurrency]);
    return this.backlog() + (rows[0]?.count ?? 0);
  }

  private async keepRunning(): Promise<void> {
    let pause = FIRST_RESTART_MS;
    while (!this.stopped) {
      const begun = Date.now();
      await this.runOnce().catch((error: unknown) => {
        this.logger.warn(`Jobs of kind ${this.options.kind} stand still: ${messageOf(error)}`);
      });
      if (this.stopped) return;
      pause = Date.now() - begun > LONGEST_RESTART_MS ? FIRST_RESTART_MS : Math.min(pause * 2, LONGEST_RESTART_MS);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause);
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
      // Known before its first job, or nobody could tell soon that a job belongs to a dead process.
      registry.add(name);
      registry.beat().catch(() => undefined);
    });
    // Of this pool alone: one that was left behind may still speak.
    let fetched = 0;
    this.backlog = () => fetched;
    events.on('localQueue:getJobs:complete', ({ jobs }) => {
      fetched += jobs.length;
      registry.hold(name, jobs);
    });
    events.on('localQueue:returnJobs', ({ jobs }) => {
      fetched -= jobs.length;
      registry.letGo(name, jobs);
    });
    events.on('job:start', () => fetched--);
    events.on('job:complete', ({ job }) => registry.letGo(name, [job]));
    // graphile-worker 0.17 ends a pool of which anything has failed, but may wait for ever for that end: after the time
    // that jobs have for theirs, it is left behind.
    let reason: unknown = 'graphile-worker ended';
    events.on('pool:fatalError', ({ error }) => (reason = error));
    const stuck = new Promise<never>((_, reject) => {
      events.once('pool:gracefulShutdown', () => {
        setTimeout(() => reject(asError(reason)), GRACE_MS + HAND_BACK_MS).unref();
      });
    });
    stuck.catch(() => undefined);
    try {
      this.runner = await run({
        pgPool: patientPool(pool, this.over.signal),
        concurrency,
        pollInterval: POLL_MS,
        noHandleSignals: true,
        logger: queueLogger,
        events,
        taskList: this.taskList(),
        parsedCronItems: this.cronItems(),
        preset: {
          worker: {
            // One query fetches for all places at once; without it each idle place would poll by itself.
            localQueue: { size: concurrency, ttl: LOCAL_QUEUE_TTL_MS },
            // Batched even without delay: only the batches handle errors, the rest would be unhandled rejections.
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
            gracefulShutdownAbortTimeout: GRACE_MS,
          },
        },
      });
      // Told to stop while it was starting.
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
        async (payload: unknown, { abortSignal }: { abortSignal?: AbortSignal }) => {
          const signal = abortSignal ?? new AbortController().signal;
          // One signal for all jobs of the process: many listeners are no leak.
          setMaxListeners(0, signal);
          try {
            await handler(payload ?? {}, { signal });
          } catch (error) {
            const told = new Error(`The job ${job.name} failed and will be tried again`, { cause: error });
            this.logger[isDatabaseUnavailable(error) ? 'warn' : 'error'](told);
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
