import { setTimeout as sleep } from 'node:timers/promises';

/** How long a job may work before it yields to others of its kind, in milliseconds. */
const TIME_SLICE_MS = 30_000;
/** Length of the pause after a batch, relative to the time that the batch took. */
const PAUSE_RATIO = 3;
const MIN_PAUSE_MS = 5;

/**
 * Runs `batch` until it finds nothing to do. Pauses after each batch, the longer the slower the database is, so that
 * requests are hardly delayed.
 * @param batch @returns the number of rows that it changed
 * @param signal ends the work after the current batch
 * @param timeMs ends the work after this time, in milliseconds
 * @returns whether nothing is left to do
 */
export async function inBatches(
  batch: () => Promise<number>,
  signal: AbortSignal,
  timeMs = TIME_SLICE_MS,
): Promise<boolean> {
  const until = performance.now() + timeMs;
  while (!signal.aborted && performance.now() < until) {
    const startedAt = performance.now();
    if ((await batch()) === 0) return true;
    const pause = Math.max(MIN_PAUSE_MS, PAUSE_RATIO * (performance.now() - startedAt));
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
  return false;
}
