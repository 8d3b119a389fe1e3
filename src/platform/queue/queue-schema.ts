import { Logger, runMigrations } from 'graphile-worker';
import { Pool } from 'pg';
import { surviveBrokenConnections } from '../database/pool.js';
import { pooledSession } from '../database/session.js';

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
    await runMigrations({ pgPool: pool, logger: silent, taskList: {} });
  } finally {
    await pool.end();
  }
}
