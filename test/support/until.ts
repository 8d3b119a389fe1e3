import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until `check` returns true. @throws Error with `what` if it does not within the time limit
 * @param within milliseconds; generous, so that tests do not fail on a busy machine
 */
export async function until(what: string, check: () => boolean | Promise<boolean>, within = 15_000): Promise<void> {
  const deadline = performance.now() + within;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`Timed out after ${within} ms waiting until ${what}`);
    await sleep(15);
  }
}
