import type { DataSourceOptions } from 'typeorm';
import { FairPool } from './fair-pool.js';
import { pooledSession, STATEMENT_TIMEOUT_MS } from './session.js';

/** How long a request waits for a free connection before the response is 503, in milliseconds. */
const CONNECTION_TIMEOUT_MS = 5_000;
/** How long the client waits for a result. Longer than the statement timeout, so that it only applies to dead connections. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000;

/** Options of every connection of this project. */
export function connectionOptions(url: string, poolSize: number): DataSourceOptions {
  return {
    type: 'postgres',
    // All that TypeORM uses of the driver.
    driver: { Pool: FairPool },
    url,
    synchronize: false,
    migrationsTableName: 'migrations',
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    applicationName: 'voice-agent-testing',
    poolSize,
    extra: {
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      ...pooledSession(),
    },
    // TypeORM would log the error; the statement that used the connection rejects with it anyway.
    poolErrorHandler: () => undefined,
  };
}

/** The same options without timeouts, for migrations, which take as long as their tables are large. */
export function withoutTimeouts(options: DataSourceOptions): DataSourceOptions {
  const { extra } = options as { extra?: Record<string, unknown> };
  return {
    ...options,
    extra: { ...extra, query_timeout: 0, ...pooledSession(0) },
  };
}
