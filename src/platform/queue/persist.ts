import { setTimeout as pause } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../database/failures.js';
import type { Limiter } from './limiter.js';

/** Pauses between tries while the database is out of reach, in milliseconds. */
const RETRIES = [200, 500, 1_000, 2_000, 4_000, 8_000];

/**
 * Writes down what a job has done, even if the database is away for a moment: it would be done again. Before all other
 * work that waits at `limiter`, because it makes room.
 * @param signal ends the tries, when whoever comes next can do it again as well
 * @throws what the last try threw
 */
export async function persist<T>(limiter: Limiter, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (const delay of RETRIES) {
    try {
      return await limiter.run(work, { isUrgent: true });
    } catch (error) {
      if (!isDatabaseUnavailable(error) || signal?.aborted) throw error;
      await pause(delay);
    }
  }
  return limiter.run(work, { isUrgent: true });
}
