import { openEmbeddedPostgres } from '../../libs/embedded-postgres/index.js';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { migrate } from '../../src/bootstrap/migrate.js';
import { TEMPLATE_DATABASE } from './test-database.js';

export interface TestPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL server for a test run, with a template database that each test file clones.
 * @param directory for its data; the caller removes it
 */
export async function startTestPostgres(directory: string): Promise<TestPostgres> {
  // Test data need not survive a crash, and each database is soon dropped.
  const parameters = {
    ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' },
    max_connections: '400',
  };
  const server = await openEmbeddedPostgres({ directory, parameters });
  await server.createDatabase(TEMPLATE_DATABASE);
  const dataSource = await createDataSource(server.url(TEMPLATE_DATABASE), 2).initialize();
  await migrate(dataSource);
  // Tests open thousands of connections; by default each of them derives a key with 4,096 rounds.
  const { password } = new URL(server.url('postgres'));
  await dataSource.query(`SET scram_iterations = 1; ALTER ROLE CURRENT_USER PASSWORD '${password}'`);
  await dataSource.destroy();
  return { url: server.url('postgres'), stop: () => server.close() };
}
