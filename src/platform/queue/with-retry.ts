import { setTimeout as sleep } from 'node:timers/promises';
import type { PrioritySemaphore } from '../../../libs/concurrency/index.js';
import { isDatabaseUnavailable } from '../database/failures.js';

/** Delays between attempts while the database is unavailable, in milliseconds. */
const DELAYS = [200, 500, 1_000, 2_000, 4_000, 8_000];

/**
 * Records the result of a job even if the database is unavailable for a moment; otherwise the job would run again.
 * Goes before other tasks of the semaphore, because it completes work in progress.
 * @param signal ends the retries, when the job may as well be recorded or repeated later
 * @throws the error of the last attempt
 */
export async function withRetry<T>(
  semaphore: PrioritySemaphore,
  task: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (const delay of DELAYS) {
    try {
      return await semaphore.run(task, { isUrgent: true });
    } catch (error) {
      if (!isDatabaseUnavailable(error) || signal?.aborted) throw error;
      await sleep(delay);
    }
  }
  return semaphore.run(task, { isUrgent: true });
}
