import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until a check holds. @throws Error that names what did not come about
 * @param within milliseconds; generous, because a busy machine is no fault of the code under test
 */
export async function until(what: string, check: () => boolean | Promise<boolean>, within = 15_000): Promise<void> {
  const deadline = performance.now() + within;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`Not within ${within} ms: ${what}`);
    await sleep(15);
  }
}
