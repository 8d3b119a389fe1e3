import { randomBytes } from 'node:crypto';
import { sql } from './sql.js';

export const TEMPLATE_DATABASE = 'test_template';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates a database with all tables and no rows, by cloning the template database. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env['TEST_DATABASE_URL'];
  if (serverUrl === undefined) throw new Error('TEST_DATABASE_URL is not set: the global setup of Jest sets it');
  const name = `test_${randomBytes(8).toString('hex')}`;
  // A copy of the files includes the catalog cache, which the first connections would otherwise have to build.
  await sql(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE} STRATEGY FILE_COPY`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.toString(),
    drop: async () => {
      await sql(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}
