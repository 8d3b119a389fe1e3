import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { SUPERUSER } from './cluster.js';
import { EmbeddedPostgresError } from './errors.js';
import { errorCode, POLL_MS, processStart } from './process.js';

/**
 * A process that uses the server holds a shared advisory lock in it, on a connection of its own. The server drops the
 * lock by itself when the process dies, so "does anybody else use the server?" is always answered truly.
 */

/** Any number, but the same in all versions of this program: it is how they see each other. */
const USERS_LOCK = '7021948820036117';

/** How long a server may take to answer the goodbye, milliseconds. */
const LEAVE_MS = 2000;

const NAME_PREFIX = 'embedded-postgres user ';

/** Errors after which the server may well be usable in a moment: starting, stopping, recovering, full, or just gone. */
const PASSING = new Set([
  ...['57P01', '57P02', '57P03', '53300', '55P03', '57014'],
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'],
]);

function isPassing(error: unknown): boolean {
  if (PASSING.has(errorCode(error) ?? '')) return true;
  return error instanceof Error && /terminated|timeout expired|not queryable|Connection ended/i.test(error.message);
}

/**
 * Opens a connection to the embedded server. Its later loss never throws: a listener is attached.
 *
 * @throws whatever `pg` throws
 */
export async function connect(port: number, password: string, database: string, name: string): Promise<Client> {
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password,
    database,
    application_name: name,
    // Said here lest PGSSLMODE or PGOPTIONS of the service's environment interfere.
    ssl: false,
    options: '-c lock_timeout=5000 -c idle_session_timeout=0 -c statement_timeout=60000',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    void client.end().catch(() => undefined);
    throw error;
  }
}

/** The registration of this process as a user of the server. */
export class Holder {
  /** Settles when the connection is lost or has been closed. */
  readonly lost: Promise<void>;
  private alive = true;

  private constructor(private readonly client: Client) {
    this.lost = new Promise((resolve) => {
      const lose = (): void => {
        this.alive = false;
        resolve();
      };
      // An error outside of a query means that the connection is done for; `end` may come much later.
      client.on('error', lose);
      client.on('end', lose);
    });
  }

  /**
   * Registers this process.
   *
   * @returns undefined when the server cannot be used at this moment, but possibly soon
   * @throws EmbeddedPostgresError when the password is wrong; other errors as they are
   */
  static async register(port: number, password: string): Promise<Holder | undefined> {
    let client: Client;
    try {
      client = await connect(port, password, 'postgres', `${NAME_PREFIX}${process.pid}`);
    } catch (error) {
      if (isPassing(error)) return undefined;
      if (errorCode(error) === '28P01') {
        throw new EmbeddedPostgresError(
          `The running embedded PostgreSQL does not accept the stored password: the file "password" is not of the data ` +
            `beside it, or somebody has changed the role ${SUPERUSER}. Restore both from the same backup.`,
          { cause: error },
        );
      }
      throw error;
    }
    const holder = new Holder(client);
    try {
      await client.query(`select pg_advisory_lock_shared(${USERS_LOCK})`);
      return holder;
    } catch (error) {
      await holder.leave();
      if (isPassing(error)) return undefined;
      throw error;
    }
  }

  isAlive(): boolean {
    return this.alive;
  }

  /**
   * Whether nobody else uses the server. If so, nobody can begin to use it until `leave`. The caller holds the lock of
   * the folder.
   *
   * @returns undefined when the connection was lost: the server is ending or restarting
   * @throws other errors as they are
   */
  async isLast(): Promise<boolean | undefined> {
    try {
      return await this.tryToBeAlone();
    } catch (error) {
      if (isPassing(error) || !this.alive) return undefined;
      throw error;
    }
  }

  private async tryToBeAlone(): Promise<boolean> {
    // Connections of processes that were just killed take a moment to be noticed.
    const deadline = Date.now() + 1000;
    for (;;) {
      const { rows } = await this.client.query<{ alone: boolean }>(
        `select pg_try_advisory_lock(${USERS_LOCK}) as alone`,
      );
      if (rows[0]?.alone) return true;
      if (Date.now() > deadline || (await this.hasLiveCompany())) return false;
      await sleep(POLL_MS);
    }
  }

  private async hasLiveCompany(): Promise<boolean> {
    const { rows } = await this.client.query<{ name: string }>(
      `select a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
       where l.locktype = 'advisory' and l.granted and l.pid <> pg_backend_pid()
         and (l.classid::bigint << 32) | l.objid::bigint = ${USERS_LOCK}`,
    );
    return rows.some(({ name }) => {
      const pid = name.startsWith(NAME_PREFIX) ? Number(name.slice(NAME_PREFIX.length)) : 0;
      return !pid || processStart(pid) !== 'gone';
    });
  }

  /** Ends the registration. The server has noted it when this returns. Never throws. */
  async leave(): Promise<void> {
    const goodbye = async (): Promise<void> => {
      // Closing the connection alone is noted a moment later, too late for the next process that asks isLast().
      if (this.alive) await this.client.query('select pg_advisory_unlock_all()');
      await this.client.end();
    };
    const patience = new AbortController();
    const silence = sleep(LEAVE_MS, undefined, { signal: patience.signal }).then(() => {
      // A server that does not answer any more must not keep this process from ending.
      (this.client as Client & { unref(): void }).unref();
    });
    // Errors mean that the server is gone, and the lock with it.
    await Promise.race([goodbye(), silence]).catch(() => undefined);
    patience.abort();
    await silence.catch(() => undefined);
  }
}
