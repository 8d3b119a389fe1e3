import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../libs/embedded-postgres/index.js';
import type { Settings } from '../platform/config/settings.js';
import { messageOf } from '../platform/errors/message-of.js';
import { StartError } from './start-error.js';

const DATABASE_NAME = 'voice_agent_testing';
/** Connections of a process besides its pool: the queue's, notifications, its client registration. */
const OTHER_CONNECTIONS = 20;
/** For administrators, and PostgreSQL's own reserve. */
const SPARE_CONNECTIONS = 20;
/** Enough for one process and a few that join it. */
const MIN_CONNECTIONS = 200;

/** The embedded database of this process. */
export interface EmbeddedDatabase {
  /** Contains the password: do not log. */
  readonly url: string;
  /** The last process that closes the server stops it. */
  close(): Promise<void>;
}

/**
 * Opens the embedded PostgreSQL under DATA_DIR: starts it, or joins the server that is already running.
 * @throws EmbeddedPostgresError
 */
export async function openEmbeddedDatabase(settings: Settings, logger: Logger): Promise<EmbeddedDatabase> {
  const embedded: EmbeddedPostgres = await openEmbeddedPostgres({
    directory: path.resolve(settings.dataDir, 'postgres'),
    log: (message) => logger.debug(message),
    parameters: { max_connections: String(maxConnections(settings)) },
  });
  void embedded.stoppedUnexpectedly.then((reason) => logger.error(reason.message));
  await embedded.createDatabase(DATABASE_NAME);
  return { url: embedded.url(DATABASE_NAME), close: () => embedded.close() };
}

/** For the worker process, and for a rolling restart, which starts each new process before it stops the old one. */
function maxConnections({ webConcurrency, databasePoolSize }: Settings): number {
  const needed = (webConcurrency + 2) * (databasePoolSize + OTHER_CONNECTIONS) + SPARE_CONNECTIONS;
  return Math.max(MIN_CONNECTIONS, needed);
}

/** @throws StartError when the folder cannot be created */
export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
  } catch (cause) {
    throw new StartError(`DATA_DIR="${dataDir}" cannot be created: ${messageOf(cause)}`, { cause });
  }
}
