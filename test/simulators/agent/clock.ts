import { setTimeout as sleep } from 'node:timers/promises';

/** The agent's source of delays; tests replace it. */
export interface Clock {
  /** Resolves after `ms` milliseconds; resolves or rejects at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = { sleep: (ms, signal) => sleep(ms, undefined, { signal }) };
