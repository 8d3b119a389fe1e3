import type { ClientBase } from 'pg';

/** How long one statement may take before the server cancels it, in milliseconds. */
export const STATEMENT_TIMEOUT_MS = 15_000;

/**
 * What our SQL and the parsers of `pg` rely on. Role, database and server may have other defaults. `search_path` and
 * `default_transaction_read_only` stay as the administrator set them.
 */
const SETTINGS = `
  SET client_encoding = 'UTF8'; SET DateStyle = 'ISO, MDY'; SET IntervalStyle = 'postgres'; SET TimeZone = 'UTC';
  SET bytea_output = 'hex'; SET extra_float_digits = 1; SET standard_conforming_strings = on; SET array_nulls = on;
  SET default_transaction_isolation = 'read committed'; SET lock_timeout = 0; SET idle_session_timeout = 0;
  SELECT set_config('transaction_timeout', '0', false) WHERE current_setting('transaction_timeout', true) IS NOT NULL;`;

/**
 * Sets what every session needs, by statements: connection poolers refuse most settings as startup parameters, and `pg`
 * does not send a timeout of 0.
 * @param statementMs how long one statement may take; 0: any time, for migrations
 * @throws the driver's error
 */
export async function setSession(client: ClientBase, statementMs = STATEMENT_TIMEOUT_MS): Promise<void> {
  await client.query(`${SETTINGS}
    SET statement_timeout = ${statementMs}; SET idle_in_transaction_session_timeout = ${2 * statementMs}`);
}

/** The same as an option of pools: `pg` waits for it before it uses a new connection. */
export const pooledSession = (statementMs?: number) => ({
  onConnect: (client: ClientBase): unknown => setSession(client, statementMs),
});
