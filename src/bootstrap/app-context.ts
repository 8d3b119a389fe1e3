import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { createDataSource } from './data-source.js';
import type { AppContext } from '../app.module.js';
import { makeDataDir, openEmbeddedDatabase } from './embedded-database.js';
import type { Settings } from '../platform/config/settings.js';
import { openDataSource } from '../platform/database/pool.js';
import { messageOf } from '../platform/errors/message-of.js';
import { openKeyRing } from './open-key-ring.js';
import { MissingPrivilegeError } from './privileges.js';
import { migrate, UnknownMigrationsError } from './migrate.js';
import { StartError } from './start-error.js';

/** `server_version_num`; the migrations and the queue need features of this version. */
const MIN_POSTGRES_VERSION = 140_000;
/** SQLSTATE of a server that is starting, stopping or recovering. */
const CANNOT_CONNECT_NOW = '57P03';
/** How long to wait for such a server, and between two attempts, in milliseconds. */
const STARTING_MS = 60_000;
const STARTING_PAUSE_MS = 500;

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
    await connect(dataSource, databaseUrl, logger);
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

async function connect(dataSource: DataSource, databaseUrl: string, logger: Logger): Promise<void> {
  const { host, pathname } = new URL(databaseUrl);
  const where = `The database ${pathname.slice(1)} at ${host}`;
  try {
    await initialize(dataSource, where, logger);
  } catch (cause) {
    throw new StartError(
      `${where} cannot be reached: ${messageOf(cause)}. Check DATABASE_URL and that the server is running`,
      {
        cause,
      },
    );
  }
  const [row] = await dataSource.query<{ version: number; name: string }[]>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name`,
  );
  if (row && row.version < MIN_POSTGRES_VERSION) {
    throw new StartError(`${where} is PostgreSQL ${row.name}; version 14 or newer is required`);
  }
}

/** Waits only for a server that is starting or recovering; any other failure is more likely a wrong setting. */
async function initialize(dataSource: DataSource, where: string, logger: Logger): Promise<void> {
  const until = performance.now() + STARTING_MS;
  for (let attempts = 0; ; attempts++) {
    try {
      await openDataSource(dataSource);
      return;
    } catch (error) {
      const isStarting = (error as { code?: unknown }).code === CANNOT_CONNECT_NOW;
      if (!isStarting || performance.now() > until) throw error;
      if (attempts === 0) logger.warn(`${where} is starting; waiting up to ${STARTING_MS / 1_000} s`);
      await pause(STARTING_PAUSE_MS);
    }
  }
}
