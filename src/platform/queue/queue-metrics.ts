import { Inject, Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { SETTINGS } from '../config/settings.module.js';
import type { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { Metrics } from '../observability/metrics.js';
import { Queue } from './queue.js';

/** Not at each sweep: it reads all jobs, which takes 0.1 s with 200,000 of them. */
const PERIOD_MS = 10_000;
/** Jobs that are due and that no process has fetched. */
const WAITING = `
  SELECT count(*)::int AS jobs, coalesce(extract(epoch FROM now() - min(run_at)), 0)::float8 AS seconds
    FROM graphile_worker.jobs WHERE locked_at IS NULL AND attempts < max_attempts AND run_at <= now()`;

/** Depth of the queue, in processes that run jobs. Read by sweeps, so that no scrape waits for the database. */
@Injectable()
export class QueueMetrics {
  constructor({ registry }: Metrics, queue: Queue, database: Database, @Inject(SETTINGS) settings: Settings) {
    if (settings.role === 'api' || settings.metricsPort === undefined) return;
    const registers = [registry];
    const jobs = new Gauge({
      name: 'queue_jobs_waiting',
      help: 'Jobs of the database that are due and that no process has fetched',
      registers,
    });
    const age = new Gauge({
      name: 'queue_oldest_job_age_seconds',
      help: 'How long the oldest of these jobs has been due',
      registers,
    });
    let nextAt = 0;
    queue.onSweep(async () => {
      if (performance.now() < nextAt) return;
      nextAt = performance.now() + PERIOD_MS;
      const [row] = await database.query<{ jobs: number; seconds: number }>(WAITING);
      jobs.set(row?.jobs ?? 0);
      age.set(row?.seconds ?? 0);
    });
  }
}
