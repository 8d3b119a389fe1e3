import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpClient } from './http.js';

export interface Stalls<T> {
  /** What the attack returned. */
  readonly result: T;
  /** Duration of the attack in milliseconds. */
  readonly tookMs: number;
  /** The longest time for which the event loop of the service and of this test was blocked, in milliseconds. */
  readonly longestMs: number;
  /** The statuses that the other workspace got in the meantime. */
  readonly statuses: readonly number[];
}

/** Measures the event loop during an attack, while another workspace reads without pause. */
export async function measureStalls<T>(attack: () => Promise<T>, other: HttpClient): Promise<Stalls<T>> {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  const begun = performance.now();
  let isPending = true;
  const attacking = attack().finally(() => (isPending = false));
  const statuses = new Set<number>();
  while (isPending) {
    statuses.add((await other.get('/agents')).status);
    await sleep(5);
  }
  delays.disable();
  const result = await attacking;
  return { result, tookMs: performance.now() - begun, longestMs: delays.max / 1e6, statuses: [...statuses] };
}
