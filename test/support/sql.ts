import { Client, Pool, type QueryResultRow } from 'pg';
import { surviveBrokenConnections } from '../../src/platform/database/pool.js';

/** Runs `work` on a separate database connection, outside the service. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  // A test may terminate all connections to its database, including this one.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** By URL: opening a connection takes longer than most statements. */
const pools = new Map<string, Pool>();

function poolOf(url: string): Pool {
  const pool =
    pools.get(url) ??
    surviveBrokenConnections(new Pool({ connectionString: url, idleTimeoutMillis: 1_000, allowExitOnIdle: true }));
  pools.set(url, pool);
  return pool;
}

/** Runs one statement outside the service. */
export async function sql<Row extends QueryResultRow = Record<string, any>>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await poolOf(url).query<Row>(text, values)).rows;
}
