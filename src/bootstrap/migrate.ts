import { AbstractLogger, DataSource } from 'typeorm';
import { checkPrivileges } from './privileges.js';
import { migrateQueue } from '../platform/queue/queue-schema.js';
import { withoutTimeouts } from '../platform/database/data-source-options.js';
import { openDataSource } from '../platform/database/pool.js';

/** Arbitrary, but different from all other advisory locks in this database. */
const MIGRATION_LOCK = 7_205_113_824;

/** What databases from before the first release get, whose migrations are not those of today. */
const BEFORE_FIRST_RELEASE =
  'The database is from before the first release, which does not upgrade it: start with an empty one, at another ' +
  'DATABASE_URL or, if the database is the embedded one, after moving the folder postgres out of DATA_DIR';

/** The database was migrated by another version of the service; the message is one line for an administrator. */
export class UnknownMigrationsError extends Error {
  override readonly name = 'UnknownMigrationsError';

  /**
   * @param unknown names of migrations in the database
   * @param known names of all migrations of this version
   */
  constructor(unknown: readonly string[], known: ReadonlySet<string>) {
    const newest = Math.max(...[...known].map(timeOf));
    super(
      unknown.some((name) => timeOf(name) < newest)
        ? BEFORE_FIRST_RELEASE
        : `The database belongs to another version: it has migrations that this version does not know (${unknown.join(', ')}). ` +
            'Start the version that created them, or use an empty database',
    );
  }
}

/** The time at the end of the name of a migration, by which they are ordered. */
const timeOf = (name: string): number => Number(/\d{13}$/.exec(name)?.[0]);

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
  const known = new Set(dataSource.migrations.map(({ name = '' }) => name));
  const applied = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id');
  const unknown = applied.map(({ name }) => name).filter((name) => !known.has(name));
  if (unknown.length > 0) throw new UnknownMigrationsError(unknown, known);
  return applied.length < known.size;
}

function databaseUrl(options: DataSource['options']): string {
  if (options.type !== 'postgres' || options.url === undefined) throw new Error('The data source has no address');
  return options.url;
}
