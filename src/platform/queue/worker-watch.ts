import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { SETTINGS } from '../config/settings.module.js';
import type { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { messageOf } from '../errors/message-of.js';
import { DEAD_AFTER_SECONDS } from './worker-registry.js';

const CHECK_MS = 60_000;
/** How long a job must be due; a worker process that starts or is replaced needs some seconds. */
const DUE_SECONDS = 30;

const ABANDONED = `
  SELECT count(*)::int AS jobs, round(extract(epoch FROM now() - min(at)))::int AS seconds
    FROM (SELECT run_at FROM graphile_worker.jobs WHERE attempts < max_attempts
           UNION ALL SELECT due_at FROM calls WHERE status = 'QUEUED') due (at)
   WHERE at < now() - interval '${DUE_SECONDS} seconds'
     AND NOT EXISTS (SELECT FROM queue_workers WHERE seen_at > now() - interval '${DEAD_AFTER_SECONDS} seconds')`;

/** Reports jobs and calls that no process will run, in processes that run none themselves: a run must not wait silently. */
@Injectable()
export class WorkerWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Queue');
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    if (this.settings.role !== 'api') return;
    this.timer = setInterval(() => void this.check(), CHECK_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Logs an error if jobs are due and no worker process has a heartbeat. Never throws. */
  async check(): Promise<void> {
    try {
      const [row] = await this.database.query<{ jobs: number; seconds: number }>(ABANDONED);
      if (!row || row.jobs === 0) return;
      this.logger.error(
        `${row.jobs} jobs are due, for up to ${row.seconds} s, and no worker process is running: runs and webhook ` +
          'deliveries wait. Start one with ROLE=worker or ROLE=all',
      );
    } catch (error) {
      this.logger.warn(`Cannot check for worker processes: ${messageOf(error)}`);
    }
  }
}
