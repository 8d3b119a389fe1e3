import { AbstractLogger, DataSource } from 'typeorm';
import { checkPrivileges } from './privileges.js';
import { migrateQueue } from '../platform/queue/queue-schema.js';
import { withoutTimeouts } from '../platform/database/data-source-options.js';
import { openDataSource } from '../platform/database/pool.js';

/** Arbitrary, but different from all other advisory locks in this database. */
const MIGRATION_LOCK = 7_205_113_824;

/** The database was migrated by another version of the service; the message is one line for an administrator. */
export class UnknownMigrationsError extends Error {
  override readonly name = 'UnknownMigrationsError';

  constructor(names: readonly string[]) {
    super(
      `The database belongs to another version: it has migrations that this version does not know (${names.join(', ')}). ` +
        'Start the version that created them, or use an empty database',
    );
  }
}

/** TypeORM prints each migration to standard output, between the lines of the log; `migrate` returns the names instead. */
class SilentLogger extends AbstractLogger {
  protected writeLog(): void {
    // Nothing.
  }
}

/**
 * Runs the pending migrations, once, even if several processes start at the same time.
 * @param dataSource names the database and the migrations; its own connections, which have timeouts, are not used
 * @returns the names of the migrations that were run
 * @throws UnknownMigrationsError or MissingPrivilegeError before anything is changed
 */
export async function migrate({ options }: DataSource): Promise<string[]> {
  const dataSource = await openDataSource(new DataSource({ ...withoutTimeouts(options), logger: new SilentLogger() }));
  // The lock belongs to a session, hence a connection of its own that outlives the migrations' transactions.
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const isPending = await checkKnown(dataSource);
    await checkPrivileges(dataSource, isPending);
    const done = await dataSource.runMigrations({ transaction: 'each' });
    // The queue's tables belong to graphile-worker, which has its own migrations.
    await migrateQueue(databaseUrl(options));
    return done.map((migration) => migration.name);
  } finally {
    // The end of the session releases the lock as well, but later.
    await runner.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
    await dataSource.destroy();
  }
}

/** @returns whether there are migrations to run. @throws UnknownMigrationsError */
async function checkKnown(dataSource: DataSource): Promise<boolean> {
  const [table] = await dataSource.query<{ found: boolean; readable: boolean | null }[]>(
    `SELECT to_regclass('migrations') IS NOT NULL AS found,
            has_table_privilege(to_regclass('migrations'), 'SELECT') AS readable`,
  );
  if (!table?.found) return true;
  // The missing privilege is reported with the others.
  if (!table.readable) return false;
  const known = new Set(dataSource.migrations.map(({ name }) => name));
  const applied = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id');
  const unknown = applied.map(({ name }) => name).filter((name) => !known.has(name));
  if (unknown.length > 0) throw new UnknownMigrationsError(unknown);
  return applied.length < known.size;
}

function databaseUrl(options: DataSource['options']): string {
  if (options.type !== 'postgres' || options.url === undefined) throw new Error('The data source has no address');
  return options.url;
}
