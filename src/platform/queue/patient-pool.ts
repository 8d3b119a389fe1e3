import { setTimeout as pause } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { isDatabaseUnavailable } from '../database/failures.js';

/** Pauses between tries, in milliseconds; the last one again and again. */
const RETRIES = [100, 250, 500, 1_000];

/**
 * The pool as graphile-worker sees it: a statement that finds no database waits until it is back. graphile-worker 0.17
 * takes most such errors for the end of its own pool, and ends that so that it can wait for ever, or end the process by
 * a rejection that nobody handles. All its statements may be carried out twice: what a lost answer to a fetch had locked
 * is freed by the registry's sweep.
 *
 * A connection taken with a callback, which graphile-worker listens on, is one of the pool's own.
 * @param pool whose errors have listeners
 * @param over when nobody waits any more: what has no database then is never answered
 */
export function patientPool(pool: Pool, over: AbortSignal): Pool {
  const retrying = async (statement: readonly unknown[]): Promise<unknown> => {
    for (let tries = 0; ; tries++) {
      try {
        // With an error, the pool gives its connection up: one that no longer answers is not used again.
        return await (pool.query as (...args: readonly unknown[]) => Promise<unknown>)(...statement);
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error;
        if (over.aborted) return new Promise(() => undefined);
        await pause(RETRIES[Math.min(tries, RETRIES.length - 1)], undefined, { ref: false });
      }
    }
  };
  const query = (...statement: readonly unknown[]) => retrying(statement);
  const client = { query, release: () => undefined } as unknown as PoolClient;
  const connect = (callback?: Parameters<Pool['connect']>[0]) =>
    callback ? pool.connect(callback) : Promise.resolve(client);
  return Object.assign(Object.create(pool) as Pool, { query, connect });
}
