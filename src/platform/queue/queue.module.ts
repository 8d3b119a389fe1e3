import { Global, Module } from '@nestjs/common';
import { Queue } from './queue.js';
import { QueueMetrics } from './queue-metrics.js';
import { QueueWorker } from './queue-worker.js';
import { WorkerWatch } from './worker-watch.js';

/** The job queue for every module. */
@Global()
@Module({ providers: [Queue, QueueWorker, QueueMetrics, WorkerWatch], exports: [Queue, QueueWorker] })
export class QueueModule {}
