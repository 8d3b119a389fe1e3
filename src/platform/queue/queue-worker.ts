import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Pool } from 'pg';
import { SETTINGS } from '../config/settings.module.js';
import type { Settings } from '../config/settings.js';
import { DATABASE_URL } from '../database/database.tokens.js';
import { surviveBrokenConnections } from '../database/pool.js';
import { messageOf } from '../errors/message-of.js';
import { JOB_KINDS, type JobKind } from './job.js';
import { JobRunner } from './job-runner.js';
import { Queue } from './queue.js';
import { WorkerRegistry } from './worker-registry.js';

/** Connections of the queue's own pool: it must be heard of as alive also while requests use up the other one. */
const POOL_SIZE = 10;
/** How long an answer is waited for, in milliseconds: only a dead connection takes longer. */
const ANSWER_TIMEOUT_MS = 20_000;
const SWEEP_MS = 5_000;
/** How long an answer to who waits is good for, in milliseconds. */
const WAITING_MS = 1_000;

interface Waiting {
  readonly at: number;
  readonly count: Promise<number>;
  /** How many were told to make way since. */
  told: number;
}

/** How many jobs of each kind one process carries out at once. */
const CONCURRENCY: Readonly<Record<JobKind, (settings: Settings) => number>> = {
  // Deliveries do nothing but wait for receivers, so there can be many.
  webhooks: () => 400,
  calls: ({ workerConcurrency }) => workerConcurrency,
  maintenance: () => 1,
};

/** Carries out jobs in this process, unless it serves HTTP only. */
@Injectable()
export class QueueWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Queue');
  private readonly pool: Pool;
  private readonly registry: WorkerRegistry;
  private runners: JobRunner[] = [];
  private readonly waiting = new Map<JobKind, Waiting>();
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly queue: Queue,
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(DATABASE_URL) url: string,
  ) {
    this.pool = surviveBrokenConnections(
      new Pool({
        connectionString: url,
        max: POOL_SIZE,
        application_name: 'voice-agent-testing queue',
        connectionTimeoutMillis: 5_000,
        query_timeout: ANSWER_TIMEOUT_MS,
        keepAlive: true,
      }),
    );
    this.registry = new WorkerRegistry(this.pool);
  }

  /** Name of this process among those that carry out jobs. */
  get id(): string {
    return this.registry.id;
  }

  /** How many jobs of a kind this process carries out at once. */
  concurrency(kind: JobKind): number {
    return CONCURRENCY[kind](this.settings);
  }

  /**
   * Whether a job that could go on should end, and be put into the queue anew, because others wait. As many are told to
   * as wait: each costs a way through the queue. The database is asked once a second, however many ask.
   */
  async shouldMakeWay(kind: JobKind): Promise<boolean> {
    const known = this.waiting.get(kind);
    const isFresh = known !== undefined && performance.now() - known.at < WAITING_MS;
    const waiting = isFresh ? known : { at: performance.now(), count: this.countWaiting(kind), told: 0 };
    this.waiting.set(kind, waiting);
    const count = await waiting.count;
    if (waiting.told >= count) return false;
    waiting.told++;
    return true;
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.settings.role === 'api') return;
    await this.registry.beat();
    await this.registry.forgetGone();
    this.runners = JOB_KINDS.flatMap((kind) => {
      const jobs = this.queue.handled.filter(({ job }) => job.kind === kind);
      const concurrency = this.concurrency(kind);
      const { pool, registry } = this;
      return jobs.length > 0 ? [new JobRunner({ kind, jobs, concurrency, pool, registry })] : [];
    });
    for (const runner of this.runners) runner.start();
    // At once, for what an earlier life of this process left behind.
    this.sweeping = this.sweep().finally(() => this.schedule());
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.sweeping;
    await Promise.all(this.runners.map((runner) => runner.stop()));
    if (this.runners.length > 0) {
      await this.registry.leave().catch((error: unknown) => {
        this.logger.warn(`Others will have to free the jobs of this process: ${String(error)}`);
      });
    }
    await this.pool.end();
  }

  private countWaiting(kind: JobKind): Promise<number> {
    return this.runners.find((runner) => runner.kind === kind)?.countWaiting() ?? Promise.resolve(0);
  }

  private schedule(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.sweeping = this.sweep().finally(() => this.schedule());
    }, SWEEP_MS);
    this.timer.unref();
  }

  /** Never throws: what the database does not answer now is done at the next turn. */
  private async sweep(): Promise<void> {
    try {
      await this.registry.beat();
      await this.registry.sweep();
      for (const sweep of this.queue.sweepers) {
        if (!this.stopped) await sweep();
      }
    } catch (error) {
      this.logger.warn(`The queue's sweep failed: ${messageOf(error)}`);
    }
  }
}
