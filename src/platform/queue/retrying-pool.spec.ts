import type { Pool } from 'pg';
import { retryingPool } from './retrying-pool.js';

const failure = (code: string) => Object.assign(new Error('failed'), { code });

/** Returns these results one after the other; errors are thrown. */
function poolOf(...results: unknown[]) {
  const statements: unknown[][] = [];
  const query = async (...statement: unknown[]) => {
    statements.push(statement);
    const result = results.shift();
    if (result instanceof Error) throw result;
    return result;
  };
  return { statements, pool: { query } as unknown as Pool };
}

describe('retryingPool', () => {
  it('retries on another connection until the database is available', async () => {
    const { statements, pool } = poolOf(failure('57P03'), failure('ECONNRESET'), { rows: [1] });
    const client = await retryingPool(pool, new AbortController().signal).connect();
    await expect(client.query('SELECT $1', [1])).resolves.toEqual({ rows: [1] });
    expect(statements).toEqual([
      ['SELECT $1', [1]],
      ['SELECT $1', [1]],
      ['SELECT $1', [1]],
    ]);
    client.release();
  });

  it('rejects with an error of the statement itself', async () => {
    const { statements, pool } = poolOf(failure('42P01'));
    await expect(retryingPool(pool, new AbortController().signal).query('SELECT')).rejects.toThrow('failed');
    expect(statements).toHaveLength(1);
  });

  it('never settles after it was stopped', async () => {
    const stop = new AbortController();
    const { statements, pool } = poolOf(failure('57P03'), failure('57P03'), { rows: [] });
    let settled = false;
    const note = () => void (settled = true);
    retryingPool(pool, stop.signal).query('SELECT 1').then(note, note);
    stop.abort();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect({ settled, attempts: statements.length }).toEqual({ settled: false, attempts: 1 });
  });
});
