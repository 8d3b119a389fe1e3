import type { DataSource } from 'typeorm';

/** Any number that no other user of advisory locks in this database takes. */
const MIGRATION_LOCK = 7_205_113_824;

/**
 * Carries out the migrations that the database lacks, once, however many processes start at the same moment.
 * @returns the names of those it carried out
 */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  // The lock belongs to a session, hence a connection of its own that outlives the migrations' transactions.
  const runner = dataSource.createQueryRunner();
  await runner.connect();
  try {
    await runner.query('SET statement_timeout = 0');
    await runner.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const done = await dataSource.runMigrations({ transaction: 'each' });
    return done.map((migration) => migration.name);
  } finally {
    await runner.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await runner.query('RESET statement_timeout').catch(() => undefined);
    await runner.release();
  }
}
