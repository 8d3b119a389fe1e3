import { Logger, runMigrations } from 'graphile-worker';
import { Pool } from 'pg';
import { surviveBrokenConnections } from '../database/pool.js';
import { pooledSession } from '../database/session.js';

/** Named, because a configuration file of graphile-worker in a folder above this project may name another one. */
export const QUEUE_SCHEMA = 'graphile_worker';

const silent = new Logger(() => () => undefined);

/** Updates graphile-worker's own schema. The caller holds the migration lock. */
export async function migrateQueue(connectionString: string): Promise<void> {
  const pool = surviveBrokenConnections(
    new Pool({
      connectionString,
      max: 1,
      application_name: 'voice-agent-testing migrations',
      ...pooledSession(0),
    }),
  );
  try {
    await runMigrations({ schema: QUEUE_SCHEMA, pgPool: pool, logger: silent, taskList: {} });
  } finally {
    await pool.end();
  }
}
