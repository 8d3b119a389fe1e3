import type { DataSourceOptions } from 'typeorm';
import { TYPES } from './timestamps.js';

/** How long a request waits for a free connection before it is answered 503, in milliseconds. */
export const CONNECTION_TIMEOUT_MS = 5_000;
/** How long one statement may take before the server cancels it, in milliseconds. */
const STATEMENT_TIMEOUT_MS = 15_000;
/** How long its answer is waited for. Longer, so that it only ends what the server cannot: a connection that is dead. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000;

/** What every connection of this project has in common. */
export function connectionOptions(url: string, poolSize: number): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    synchronize: false,
    migrationsTableName: 'migrations',
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    applicationName: 'voice-agent-testing',
    poolSize,
    extra: {
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      idle_in_transaction_session_timeout: 2 * STATEMENT_TIMEOUT_MS,
      keepAlive: true,
      types: TYPES,
    },
    // TypeORM would log it; who uses the connection hears of it.
    poolErrorHandler: () => undefined,
  };
}

/** The same connections without time-outs: a migration takes as long as its table is large. */
export function withoutTimeouts(options: DataSourceOptions): DataSourceOptions {
  const { extra } = options as { extra?: Record<string, unknown> };
  return {
    ...options,
    extra: { ...extra, statement_timeout: 0, query_timeout: 0, idle_in_transaction_session_timeout: 0 },
  };
}
