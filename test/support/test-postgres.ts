import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openEmbeddedPostgres } from '../../libs/embedded-postgres/index.js';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { migrate } from '../../src/bootstrap/migrate.js';
import { TEMPLATE_DATABASE } from './test-database.js';

export interface TestPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts the PostgreSQL server for a test run, with a template database that each test file clones. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const directory = await mkdtemp(path.join(tmpdir(), 'voice-agent-testing-'));
  // Test data need not survive a crash, and each database is soon dropped.
  const parameters = {
    ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' },
    max_connections: '400',
  };
  const server = await openEmbeddedPostgres({ directory: path.join(directory, 'postgres'), parameters });
  await server.createDatabase(TEMPLATE_DATABASE);
  const dataSource = await createDataSource(server.url(TEMPLATE_DATABASE), 2).initialize();
  await migrate(dataSource);
  await dataSource.destroy();
  return {
    url: server.url('postgres'),
    stop: async () => {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
