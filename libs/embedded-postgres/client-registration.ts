import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { SUPERUSER } from './data-directory.js';
import { EmbeddedPostgresError, errorCode } from './errors.js';
import { isAlive, POLL_MS } from './pg-ctl.js';

/** The advisory lock that all clients of a server share. The same in all versions of this program. */
const CLIENTS_LOCK = '7021948820036117';
const NAME_PREFIX = 'embedded-postgres user ';
/** How long the lock of a process that was just killed may remain, milliseconds. */
const DEAD_CLIENT_MS = 1000;
/** How long a server may take to close a connection, milliseconds. */
const END_TIMEOUT_MS = 2000;
/** The server starts, stops, recovers or has too many connections. */
const TRANSIENT = new Set(['57P01', '57P02', '57P03', '53300', '55P03', '57014', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

function isTransient(error: unknown): boolean {
  if (TRANSIENT.has(errorCode(error) ?? '')) return true;
  return error instanceof Error && /terminated|timeout|not queryable|Connection ended/i.test(error.message);
}

/**
 * Opens a connection to the embedded server. A listener is attached, so losing the connection later never throws.
 *
 * @throws what `pg` throws
 */
export async function connect(port: number, password: string, name: string): Promise<Client> {
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password,
    database: 'postgres',
    application_name: name,
    // Explicit, so that PGSSLMODE and PGOPTIONS in the service's environment have no effect.
    ssl: false,
    options: '-c lock_timeout=5000 -c idle_session_timeout=0',
    connectionTimeoutMillis: 5000,
    query_timeout: 60_000,
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

/**
 * Registers this process as a client of the server by a shared advisory lock on a connection of its own. PostgreSQL
 * releases the lock when the process dies, so registrations are never stale.
 */
export class ClientRegistration {
  /** Resolves when the connection is lost or closed. */
  readonly lost: Promise<void>;
  isConnected = true;

  private constructor(private readonly client: Client) {
    this.lost = new Promise((resolve) => {
      const lose = (): void => {
        this.isConnected = false;
        resolve();
      };
      // `error` comes first when the connection breaks; `end` may come much later.
      client.on('error', lose).on('end', lose);
    });
  }

  /**
   * @returns 'refused' when nothing listens on the port, 'unavailable' when the server starts, stops or recovers
   * @throws EmbeddedPostgresError when the password is wrong; other errors unchanged
   */
  static async create(port: number, password: string): Promise<ClientRegistration | 'refused' | 'unavailable'> {
    let client: Client | undefined;
    try {
      client = await connect(port, password, `${NAME_PREFIX}${process.pid}`);
      const registration = new ClientRegistration(client);
      await client.query(`SELECT pg_advisory_lock_shared(${CLIENTS_LOCK})`);
      return registration;
    } catch (error) {
      void client?.end().catch(() => undefined);
      if (errorCode(error) === 'ECONNREFUSED') return 'refused';
      if (isTransient(error)) return 'unavailable';
      if (errorCode(error) !== '28P01') throw error;
      throw new EmbeddedPostgresError(
        'The running embedded PostgreSQL does not accept the stored password: the file "password" does not belong to ' +
          `the data beside it, or the role ${SUPERUSER} was changed. Restore both from the same backup.`,
        { cause: error },
      );
    }
  }

  /**
   * Withdraws the registration. Every process that closes first releases its own lock and then tries to lock
   * exclusively, so the last one succeeds even when several close at the same time.
   *
   * @returns true when no other process is registered: none can register then until `end`. undefined when the
   *   connection is lost
   */
  async withdraw(): Promise<boolean | undefined> {
    try {
      await this.client.query(`SELECT pg_advisory_unlock_shared(${CLIENTS_LOCK})`);
      for (const deadline = Date.now() + DEAD_CLIENT_MS; ; await sleep(POLL_MS)) {
        const result = await this.client.query<{ locked: boolean }>(
          `SELECT pg_try_advisory_lock(${CLIENTS_LOCK}) AS locked`,
        );
        if (result.rows[0]?.locked) return true;
        if (Date.now() > deadline || (await this.hasOtherClients())) return false;
      }
    } catch (error) {
      if (isTransient(error) || !this.isConnected) return undefined;
      throw error;
    }
  }

  /** Ignores the locks of processes that were killed a moment ago. */
  private async hasOtherClients(): Promise<boolean> {
    const { rows } = await this.client.query<{ name: string }>(
      `SELECT a.application_name AS name
         FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE l.locktype = 'advisory' AND l.granted AND l.pid <> pg_backend_pid()
          AND (l.classid::bigint << 32) | l.objid::bigint = ${CLIENTS_LOCK}`,
    );
    return rows.some(({ name }) => isAlive(Number(name.slice(NAME_PREFIX.length))));
  }

  /** Closes the connection. Never throws, and does not wait for a server that does not respond. */
  async end(): Promise<void> {
    await Promise.race([this.client.end().catch(() => undefined), sleep(END_TIMEOUT_MS, undefined, { ref: false })]);
  }
}
