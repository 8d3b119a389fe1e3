import { setTimeout as sleep } from 'node:timers/promises';

/** A check is often a request; one of a long wait is repeated less often. */
const PAUSE_MS = { shortest: 15, longest: 250 };

/**
 * Waits until `check` returns true. @throws Error with `what` if it does not within the time limit
 * @param within milliseconds; generous, so that tests do not fail on a busy machine
 */
export async function until(what: string, check: () => boolean | Promise<boolean>, within = 15_000): Promise<void> {
  const start = performance.now();
  while (!(await check())) {
    const waited = performance.now() - start;
    if (waited > within) throw new Error(`Timed out after ${within} ms waiting until ${what}`);
    await sleep(Math.min(Math.max(PAUSE_MS.shortest, waited / 20), PAUSE_MS.longest));
  }
}
