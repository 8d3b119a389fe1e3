import type { DataSource } from 'typeorm';
import type { Settings } from '../platform/config/settings.js';
import { QUEUE_POOL_SIZE } from '../platform/queue/queue-worker.js';

/** Connections that role, database and server allow; -1 stands for any number. Some are reserved for superusers. */
const LIMITS = `
  SELECT r.rolconnlimit AS "the role", d.datconnlimit AS "the database",
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           - coalesce(current_setting('reserved_connections', true)::int, 0) AS "the server"
    FROM pg_roles r, pg_database d WHERE r.rolname = session_user AND d.datname = current_database()`;

/** What the start says if the processes of the service may open more connections than they are allowed. */
export async function connectionWarning(dataSource: DataSource, settings: Settings): Promise<string | undefined> {
  // An API process and a worker process, here or on another machine. One more connection of each listens.
  const needed = 2 * (settings.databasePoolSize + 1) + QUEUE_POOL_SIZE;
  const [limits = {}] = await dataSource.query<Record<string, number>[]>(LIMITS);
  const [who, allowed] = Object.entries(limits)
    .filter(([, limit]) => limit >= 0)
    .reduce((lowest, limit) => (limit[1] < lowest[1] ? limit : lowest), ['', Infinity]);
  if (allowed >= needed) return undefined;
  return (
    `The processes of the service may open ${needed} connections to the database, but ${who} allows ${allowed}: ` +
    'raise that limit, or lower DATABASE_POOL_SIZE'
  );
}
