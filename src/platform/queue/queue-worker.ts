import { setTimeout as pause } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Pool } from 'pg';
import { SETTINGS } from '../config/settings.module.js';
import type { Settings } from '../config/settings.js';
import { DATABASE_URL } from '../database/database.tokens.js';
import { surviveBrokenConnections } from '../database/pool.js';
import { pooledSession } from '../database/session.js';
import { messageOf } from '../errors/message-of.js';
import { JOB_KINDS, type JobKind } from './job.js';
import { JobRunner } from './job-runner.js';
import { Queue } from './queue.js';
import { WorkerRegistry } from './worker-registry.js';

/** Connections of the queue's own pool, so that heartbeats do not depend on the pool of the requests. */
export const QUEUE_POOL_SIZE = 10;
/** How long a statement may take, in milliseconds; it only takes longer on a dead connection. */
const QUERY_TIMEOUT_MS = 20_000;
/** How long the pool may take to close its connections, in milliseconds. */
const POOL_END_MS = 1_000;
const SWEEP_MS = 5_000;
/** How many jobs of each kind one process runs at the same time. Deliveries mostly wait for their receivers, so there can be many. */
const CONCURRENCY: Readonly<Record<JobKind, number>> = { webhooks: 400, maintenance: 1 };

/** Runs jobs in this process, unless it serves HTTP only. */
@Injectable()
export class QueueWorker implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('Queue');
  private readonly pool: Pool;
  private readonly registry: WorkerRegistry;
  private runners: JobRunner[] = [];
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();
  private stopped: Promise<unknown> | undefined;

  constructor(
    private readonly queue: Queue,
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(DATABASE_URL) url: string,
  ) {
    this.pool = surviveBrokenConnections(
      new Pool({
        connectionString: url,
        max: QUEUE_POOL_SIZE,
        application_name: 'voice-agent-testing queue',
        connectionTimeoutMillis: 5_000,
        query_timeout: QUERY_TIMEOUT_MS,
        keepAlive: true,
        ...pooledSession(),
      }),
    );
    this.registry = new WorkerRegistry(this.pool);
  }

  /** Id of this process in the registry. */
  get id(): string {
    return this.registry.id;
  }

  /** How many jobs of a kind this process runs at the same time. */
  concurrency(kind: JobKind): number {
    return CONCURRENCY[kind];
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.settings.role === 'api') return;
    await this.registry.heartbeat();
    await this.registry.forgetGone();
    this.runners = JOB_KINDS.flatMap((kind) => {
      const jobs = this.queue.handled.filter(({ job }) => job.kind === kind);
      const concurrency = this.concurrency(kind);
      const { pool, registry } = this;
      return jobs.length > 0 ? [new JobRunner({ kind, jobs, concurrency, pool, registry })] : [];
    });
    for (const runner of this.runners) runner.start();
    // The first sweep runs at once, for the jobs of an earlier process.
    this.sweeping = this.sweep().finally(() => this.schedule());
  }

  /** Jobs end while calls do, not after them: both have a grace period. */
  onModuleDestroy(): void {
    clearTimeout(this.timer);
    this.stopped = Promise.all([this.sweeping, ...this.runners.map((runner) => runner.stop())]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
    if (this.runners.length > 0) {
      await this.registry.leave().catch((error: unknown) => {
        this.logger.warn(`The jobs of this process stay locked until another one unlocks them: ${messageOf(error)}`);
      });
    }
    // graphile-worker keeps its connection that listens while a statement of its own waits for a database that is read-only.
    await Promise.race([this.pool.end(), pause(POOL_END_MS, undefined, { ref: false })]);
  }

  private schedule(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.sweeping = this.sweep().finally(() => this.schedule());
    }, SWEEP_MS);
    this.timer.unref();
  }

  /** Never throws: after an error the next sweep tries again. */
  private async sweep(): Promise<void> {
    try {
      await this.registry.heartbeat();
      await this.registry.sweep();
      for (const sweep of this.queue.sweepers) {
        if (!this.stopped) await sweep();
      }
    } catch (error) {
      this.logger.warn(`The queue's sweep failed: ${messageOf(error)}`);
    }
  }
}
