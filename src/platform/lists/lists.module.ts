import { Module } from '@nestjs/common';
import { Queue } from '../queue/queue.js';
import { ListCounter } from './list-counter.js';

/** Keeps the counter of long lists small; runs in every process that runs jobs. */
@Module({ providers: [ListCounter] })
export class ListsModule {
  constructor(queue: Queue, counter: ListCounter) {
    queue.onSweep(() => counter.rollUp());
  }
}
