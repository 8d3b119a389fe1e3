// Fails when the entities and the schema that the migrations create differ.
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openEmbeddedPostgres } from '../dist/libs/embedded-postgres/index.js';
import { createDataSource } from '../dist/src/bootstrap/data-source.js';
import { migrate } from '../dist/src/bootstrap/migrate.js';
import { schemaDrift } from '../dist/src/bootstrap/schema-drift.js';

const directory = await mkdtemp(path.join(tmpdir(), 'migration-drift-'));
const server = await openEmbeddedPostgres({ directory, parameters: { fsync: 'off' } });
try {
  const dataSource = await createDataSource(server.url('postgres'), 2).initialize();
  await migrate(dataSource);
  const statements = await schemaDrift(dataSource);
  await dataSource.destroy();
  if (statements.length > 0) {
    console.error(
      'The entities differ from the migrations. These statements would make the schema match the entities:',
    );
    for (const statement of statements) console.error(`  ${statement}`);
    console.error('Is every migration listed in src/platform/database/data-source.ts?');
    process.exitCode = 1;
  } else {
    console.log('Entities and migrations agree');
  }
} finally {
  await server.close();
  await rm(directory, { recursive: true, force: true });
}
