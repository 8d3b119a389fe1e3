import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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
/** Enough for both processes of a start and a few that join it. */
const MIN_CONNECTIONS = 200;
/** How often the server is started again within a minute; after that something is wrong that a restart does not cure. */
const MAX_RESTARTS = 3;
const RESTARTS_WINDOW_MS = 60_000;
const RESTART_PAUSE_MS = 500;

/** The embedded database of this process. */
export interface EmbeddedDatabase {
  /** Contains the password: do not log. */
  readonly url: string;
  /** The last process that closes the server stops it. */
  close(): Promise<void>;
}

/**
 * Opens the embedded PostgreSQL under DATA_DIR: starts it, or joins the server that is already running.
 * @param giveUp makes this process start a server that has died again; called when that fails repeatedly. Without it the
 *   process waits for another one to do so
 * @throws EmbeddedPostgresError
 */
export async function openEmbeddedDatabase(
  settings: Settings,
  logger: Logger,
  giveUp?: (reason: Error) => void,
): Promise<EmbeddedDatabase> {
  const open = (previous?: EmbeddedPostgres) =>
    openEmbeddedPostgres({
      directory: path.resolve(settings.dataDir, 'postgres'),
      log: (message) => logger.debug(message),
      parameters: { max_connections: String(maxConnections(settings)) },
      ...(previous && { mustExist: true, port: Number(new URL(previous.url(DATABASE_NAME)).port) }),
    });
  const server = await open();
  await server.createDatabase(DATABASE_NAME);
  if (giveUp) return new RestartingDatabase(server, open, logger, giveUp);
  return { url: server.url(DATABASE_NAME), close: () => server.close() };
}

/** Starts its server again when the postmaster has died. Connection pools reconnect by themselves: the port stays. */
class RestartingDatabase implements EmbeddedDatabase {
  readonly url: string;
  private isClosing = false;
  private restarting: Promise<void> = Promise.resolve();
  /** Times of the latest restarts, on the monotonic clock. */
  private restarts: number[] = [];

  constructor(
    private server: EmbeddedPostgres,
    private readonly open: (previous: EmbeddedPostgres) => Promise<EmbeddedPostgres>,
    private readonly logger: Logger,
    private readonly giveUp: (reason: Error) => void,
  ) {
    this.url = server.url(DATABASE_NAME);
    this.watch();
  }

  async close(): Promise<void> {
    this.isClosing = true;
    await this.restarting;
    await this.server.close();
  }

  private watch(): void {
    void this.server.stoppedUnexpectedly.then((reason) => {
      if (!this.isClosing) this.restarting = this.restart(reason);
    });
  }

  private async restart(reason: Error): Promise<void> {
    while (!this.isClosing) {
      this.restarts = this.restarts.filter((time) => performance.now() - time < RESTARTS_WINDOW_MS);
      if (this.restarts.length === MAX_RESTARTS) {
        const line = `The embedded PostgreSQL was restarted ${MAX_RESTARTS} times within a minute without lasting success`;
        return this.giveUp(new StartError(`${line}. ${reason.message}`, { cause: reason }));
      }
      this.restarts.push(performance.now());
      this.logger.error(`${reason.message} Restarting it`);
      try {
        await this.server.close();
        this.server = await this.open(this.server);
        if (this.server.url(DATABASE_NAME) !== this.url) {
          return this.giveUp(new StartError('The embedded PostgreSQL runs on another port now. Restart this program'));
        }
        this.logger.info(`Embedded PostgreSQL runs again (process ${this.server.pid})`);
        return this.watch();
      } catch (error) {
        reason = error as Error;
        await sleep(RESTART_PAUSE_MS);
      }
    }
  }
}

/** For an API process and a worker process. */
const maxConnections = ({ databasePoolSize }: Settings): number =>
  Math.max(MIN_CONNECTIONS, 2 * (databasePoolSize + OTHER_CONNECTIONS) + SPARE_CONNECTIONS);

/** @throws StartError when the folder cannot be created */
export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
  } catch (cause) {
    throw new StartError(`DATA_DIR="${dataDir}" cannot be created: ${messageOf(cause)}`, { cause });
  }
}
