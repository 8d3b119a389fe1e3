import { Client, type QueryResultRow } from 'pg';

/** Runs `work` on a connection of its own, as somebody beside the service would. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  // A test may cut all connections of its database, this one too.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs one statement beside the service. */
export function sql<Row extends QueryResultRow = Record<string, any>>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return withClient(url, async (client) => (await client.query<Row>(text, values)).rows);
}
