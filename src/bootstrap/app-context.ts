import type { Logger } from 'pino';
import { createDataSource } from './data-source.js';
import { checkDatabaseServer } from './database-server.js';
import type { AppContext } from '../app.module.js';
import { makeDataDir, openEmbeddedDatabase } from './embedded-database.js';
import type { Settings } from '../platform/config/settings.js';
import { openDataSource } from '../platform/database/pool.js';
import { openKeyRing } from './open-key-ring.js';
import { MissingPrivilegeError } from './privileges.js';
import { migrate, UnknownMigrationsError } from './migrate.js';
import { StartError } from './start-error.js';

/** An open context. Release it last, after everything that uses it has closed. */
export interface OpenAppContext extends AppContext {
  release(): Promise<void>;
}

/**
 * Opens the database (the embedded one unless DATABASE_URL is set), migrates it and checks the encryption keys against
 * it.
 * @param onDatabaseLost makes this process restart the embedded database when it dies; called if that is impossible
 * @throws StartError, SettingsError or EmbeddedPostgresError, each with a message for administrators
 */
export async function openAppContext(
  settings: Settings,
  logger: Logger,
  onDatabaseLost?: (reason: Error) => void,
): Promise<OpenAppContext> {
  await makeDataDir(settings.dataDir);
  const embedded =
    settings.databaseUrl === undefined ? await openEmbeddedDatabase(settings, logger, onDatabaseLost) : undefined;
  const databaseUrl = embedded?.url ?? settings.databaseUrl ?? '';
  const dataSource = createDataSource(databaseUrl, settings.databasePoolSize);
  const release = async () => {
    if (dataSource.isInitialized) await dataSource.destroy();
    await embedded?.close();
  };
  try {
    await checkDatabaseServer(databaseUrl, logger);
    await openDataSource(dataSource);
    const migrations = await migrate(dataSource);
    if (migrations.length > 0) logger.info({ migrations }, 'Database migrated');
    const keyRing = await openKeyRing(dataSource, settings, logger);
    return { settings, dataSource, databaseUrl, keyRing, release };
  } catch (error) {
    await release().catch(() => undefined);
    const isPlain = error instanceof UnknownMigrationsError || error instanceof MissingPrivilegeError;
    throw isPlain ? new StartError(error.message, { cause: error }) : error;
  }
}
