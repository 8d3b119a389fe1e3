import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { Logger } from 'pino';
import { messageOf } from '../platform/errors/message-of.js';
import { cureOf, isNotYet } from './database-faults.js';
import { StartError } from './start-error.js';

/** `server_version_num`; the migrations and the queue need features of this version. */
const MIN_POSTGRES_VERSION = 140_000;
/** How long to wait for a server that is not available yet, and between two attempts, in milliseconds. */
const WAIT_MS = 60_000;
const PAUSE_MS = 500;
/** Limit of connecting and of each statement, in milliseconds. */
const TIMEOUT_MS = 5_000;
/** How long a notification may take, in milliseconds; generous, because the machine may be busy at its start. */
const NOTIFICATION_MS = 10_000;
/** A pooler that distributes statements at random passes one of these rounds by chance. */
const PROBE_ROUNDS = 4;
const PROBE = 'voice_agent_testing.probe';
const GUIDE = 'docs/operation/database.md';

/** A server that may accept writes soon. */
class StandbyError extends StartError {}

/**
 * Waits for the server, and checks what the service needs of it and cannot set itself.
 * @throws StartError, with one line that names cause and remedy
 */
export async function checkDatabaseServer(url: string, logger: Logger): Promise<void> {
  const where = nameOf(url);
  const until = performance.now() + WAIT_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      return await check(url, where);
    } catch (error) {
      const isWaitedFor = error instanceof StandbyError || isNotYet(error);
      if (!isWaitedFor || performance.now() > until) throw asStartError(error, where);
      if (attempt === 1) {
        const reason =
          error instanceof StartError ? error.message : `${where} is not available yet: ${messageOf(error)}`;
        logger.warn(`${reason}. Waiting up to ${WAIT_MS / 1_000} s`);
      }
      await pause(PAUSE_MS);
    }
  }
}

function nameOf(url: string): string {
  const { host, pathname, username, searchParams } = new URL(url);
  const database = decodeURIComponent(pathname.slice(1) || username);
  return `The database ${database} at ${searchParams.get('host') ?? decodeURIComponent(host)}`;
}

function asStartError(error: unknown, where: string): StartError {
  if (error instanceof StartError) return error;
  const reason = messageOf(error).replace(/\s*\n\s*/g, ' ');
  return new StartError(`${where} cannot be reached: ${reason}. ${cureOf(error)}`, { cause: error });
}

async function check(url: string, where: string): Promise<void> {
  const clients: Client[] = [];
  try {
    for (const number of [1, 2]) {
      const client = new Client({
        connectionString: url,
        application_name: `voice-agent-testing start ${number}`,
        connectionTimeoutMillis: TIMEOUT_MS,
        query_timeout: TIMEOUT_MS,
      });
      client.on('error', () => undefined);
      clients.push(client);
      await client.connect();
    }
    const [one, other] = clients as [Client, Client];
    await checkServer(one, where);
    if (await isShared(one, other)) {
      throw new StartError(
        `${where} is behind a connection pooler that keeps no sessions, such as PgBouncer in transaction or statement mode. ` +
          `Set the pooler to session mode, or DATABASE_URL to the server itself (${GUIDE}, Poolers)`,
      );
    }
    if (!(await isNotified(one, other))) {
      throw new StartError(
        `${where} is behind a proxy that does not deliver notifications (LISTEN). Set DATABASE_URL to the server itself (${GUIDE}, Poolers)`,
      );
    }
  } finally {
    // Not awaited: the end of a connection that was not established never comes.
    for (const client of clients) client.end().catch(() => undefined);
  }
}

/** By SHOW, which works on every server: a standby refuses SELECT if transactions are serializable by default. */
async function show(client: Client, setting: string): Promise<string> {
  const { rows } = await client.query<Record<string, string>>(`SHOW ${setting}`);
  return Object.values(rows[0] ?? {})[0] ?? '';
}

async function checkServer(client: Client, where: string): Promise<void> {
  if (Number(await show(client, 'server_version_num')) < MIN_POSTGRES_VERSION) {
    const version = await show(client, 'server_version');
    throw new StartError(`${where} is PostgreSQL ${version}; version 14 or newer is required`);
  }
  const encoding = await show(client, 'server_encoding');
  if (encoding !== 'UTF8') {
    throw new StartError(
      `${where} has the encoding ${encoding}, which has no place for all characters; UTF8 is required. ` +
        `Create another one: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0 (${GUIDE}, Encoding)`,
    );
  }
  if ((await show(client, 'in_hot_standby')) === 'on') {
    throw new StandbyError(`${where} is a standby, which is read-only. Set DATABASE_URL to the primary server`);
  }
  if ((await show(client, 'transaction_read_only')) === 'on') {
    throw new StartError(
      `${where} is read-only: default_transaction_read_only is on for its role, database or server. ` +
        'Some providers set it when the disk is full',
    );
  }
  if ((await show(client, 'session_replication_role')) === 'replica') {
    throw new StartError(`${where} runs no triggers: session_replication_role is replica. ALTER ROLE … RESET it`);
  }
}

/** Whether two connections do not have a session each. Session settings show it, for they last as long as a session. */
async function isShared(one: Client, other: Client): Promise<boolean> {
  const set = (client: Client) => {
    const value = randomUUID();
    return client.query(`SET ${PROBE} = '${value}'`).then(() => value);
  };
  const read = async (client: Client) => {
    const { rows } = await client.query<{ value: string | null }>(`SELECT current_setting('${PROBE}', true) AS value`);
    return rows[0]?.value;
  };
  const [ofOne, ofOther] = [await set(one), await set(other)];
  for (let round = 0; round < PROBE_ROUNDS; round++) {
    // Twice: two servers that take turns would serve one connection each.
    for (const client of [one, one, other]) {
      if ((await read(client)) !== (client === one ? ofOne : ofOther)) return true;
    }
  }
  return false;
}

async function isNotified(listener: Client, sender: Client): Promise<boolean> {
  const channel = `probe_${randomUUID().replaceAll('-', '')}`;
  const signal = AbortSignal.timeout(NOTIFICATION_MS);
  try {
    const notified = once(listener, 'notification', { signal });
    notified.catch(() => undefined);
    await listener.query(`LISTEN ${channel}`);
    await sender.query(`NOTIFY ${channel}`);
    await notified;
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
