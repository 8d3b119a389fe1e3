import { Client, type QueryResultRow } from 'pg';

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

/** Runs one statement outside the service. */
export function sql<Row extends QueryResultRow = Record<string, any>>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return withClient(url, async (client) => (await client.query<Row>(text, values)).rows);
}
