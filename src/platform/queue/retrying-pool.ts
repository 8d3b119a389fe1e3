import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { isDatabaseUnavailable } from '../database/failures.js';

/** Delays between attempts, in milliseconds; the last one repeats. */
const DELAYS = [100, 250, 500, 1_000];

/**
 * The pool as graphile-worker sees it: statements wait while the database is unavailable. graphile-worker 0.17 treats most
 * such errors as fatal and ends its own pool in a way that can hang, or end the process by an unhandled rejection. All its
 * statements may run twice: jobs locked by a fetch whose result was lost are unlocked by the registry's sweep.
 *
 * `connect` with a callback, which graphile-worker uses to listen, returns a client of the underlying pool.
 * @param pool with error listeners
 * @param stop ends the retries; statements that wait then never settle
 */
export function retryingPool(pool: Pool, stop: AbortSignal): Pool {
  const retry = async (args: readonly unknown[]): Promise<unknown> => {
    for (let attempt = 0; ; attempt++) {
      try {
        // On an error the pool discards the connection, so that the next attempt uses another one.
        return await (pool.query as (...args: readonly unknown[]) => Promise<unknown>)(...args);
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error;
        if (stop.aborted) return new Promise(() => undefined);
        await sleep(DELAYS[Math.min(attempt, DELAYS.length - 1)], undefined, { ref: false });
      }
    }
  };
  const query = (...args: readonly unknown[]) => retry(args);
  const client = { query, release: () => undefined } as unknown as PoolClient;
  const connect = (callback?: Parameters<Pool['connect']>[0]) =>
    callback ? pool.connect(callback) : Promise.resolve(client);
  return Object.assign(Object.create(pool) as Pool, { query, connect });
}
