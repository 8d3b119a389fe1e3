import { PrioritySemaphore } from '../../../concurrency/index.js';
import { type CallThreads, MediaThread, type MediaThreadOptions } from './media-thread.js';

/** Enough for one call with an agent that keeps to the limits. */
const HEAP_MIB = 256;

/** A thread for each call, one call after the other: what ends the thread ends no other call. */
export class ThreadPerCall implements CallThreads {
  private readonly permit = new PrioritySemaphore(1);

  constructor(private readonly options: MediaThreadOptions = {}) {}

  use<T>(_owner: string, signal: AbortSignal, task: (thread: MediaThread) => Promise<T>): Promise<T> {
    return this.permit.run(
      async () => {
        const thread = new MediaThread({ heapMiB: HEAP_MIB, ...this.options });
        try {
          return await task(thread);
        } finally {
          await thread.close();
        }
      },
      { signal },
    );
  }
}
