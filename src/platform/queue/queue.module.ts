import { Global, Module } from '@nestjs/common';
import { Queue } from './queue.js';
import { QueueWorker } from './queue-worker.js';

/** The job queue for every module. */
@Global()
@Module({ providers: [Queue, QueueWorker], exports: [Queue, QueueWorker] })
export class QueueModule {}
