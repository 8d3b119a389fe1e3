import { AbstractLogger, DataSource } from 'typeorm';
import { migrateQueue } from '../queue/queue-schema.js';
import { withoutTimeouts } from './data-source-options.js';

/** Any number that no other user of advisory locks in this database takes. */
const MIGRATION_LOCK = 7_205_113_824;

/** TypeORM prints each migration to standard output, between the lines of the log; what was done is returned instead. */
class Quiet extends AbstractLogger {
  protected writeLog(): void {
    // Nothing.
  }
}

/**
 * Carries out the migrations that the database lacks, once, however many processes start at the same moment.
 * @param dataSource names the database and the migrations; its own connections, which have time-outs, are not used
 * @returns the names of those it carried out
 */
export async function migrate({ options }: DataSource): Promise<string[]> {
  const unhurried = await new DataSource({ ...withoutTimeouts(options), logger: new Quiet() }).initialize();
  // The lock belongs to a session, hence a connection of its own that outlives the migrations' transactions.
  const runner = unhurried.createQueryRunner();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const done = await unhurried.runMigrations({ transaction: 'each' });
    // The queue's tables belong to graphile-worker, which brings its own migrations.
    await migrateQueue(databaseUrl(options));
    return done.map((migration) => migration.name);
  } finally {
    // The end of a session frees its locks too, but a little later.
    await runner.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
    await unhurried.destroy();
  }
}

function databaseUrl(options: DataSource['options']): string {
  if (options.type !== 'postgres' || options.url === undefined) throw new Error('The data source has no address');
  return options.url;
}
