import type { OwnedThread } from './owned-threads.js';
import { PrioritySemaphore } from './priority-semaphore.js';

/** A thread for each call, one call after the other: what ends the thread ends no other call. */
export class ThreadPerCall<T extends OwnedThread> {
  private readonly permit = new PrioritySemaphore(1);

  constructor(private readonly start: () => T) {}

  /** Runs the call as soon as none runs. @throws the signal's reason, if it is aborted before */
  use<R>(_owner: string, signal: AbortSignal, call: (thread: T) => Promise<R>): Promise<R> {
    return this.permit.run(
      async () => {
        const thread = this.start();
        try {
          return await call(thread);
        } finally {
          await thread.close();
        }
      },
      { signal },
    );
  }
}
