import { types } from 'node:util';

/** SQLSTATEs that mean "the database is not available now", not "the statement is wrong". */
const UNAVAILABLE_SQLSTATES = new Set([
  '53300', // too_many_connections
  '53400', // configuration_limit_exceeded
  '42501', // insufficient_privilege: PostgreSQL has lost access to its files
  '58P01', // undefined_file
  '58030', // io_error
  '53100', // disk_full
  '53200', // out_of_memory
  '57014', // query_canceled: our statement_timeout
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '55000', // object_not_in_prerequisite_state: the database accepts no connections at present
  '3D000', // invalid_catalog_name: the database is being restored
  '28000', // invalid_authorization_specification: the role may not log in any more
  '28P01', // invalid_password: the role's password was changed
  '25006', // read_only_sql_transaction: a standby after a failover
  '55P03', // lock_not_available
  '40P01', // deadlock_detected
]);
const SOCKET_ERRORS = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);
/** The last two are TypeORM's, for a transaction whose connection broke between two of its statements. */
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired$|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|Query runner already released|Database connection provided by a query runner was already released)/;

/** A workspace waited too long for a connection, because its requests hold its share of the pool. */
export class ConnectionShareTimeout extends Error {
  override readonly name = 'ConnectionShareTimeout';

  constructor() {
    super('No connection within the share of the workspace was free in time');
  }
}

/** Whether an error of driver or pool means that the database is unavailable or overloaded, so that a retry may succeed (503). */
export function isDatabaseUnavailable(error: unknown): boolean {
  // Not instanceof: Jest runs tests in a realm with its own Error class, and Node's socket errors belong to another.
  if (!types.isNativeError(error)) return false;
  if (error instanceof ConnectionShareTimeout) return true;
  const { code } = error as Error & { code?: string };
  if (code !== undefined) {
    return SOCKET_ERRORS.has(code) || UNAVAILABLE_SQLSTATES.has(code) || code.startsWith('08');
  }
  return DRIVER_MESSAGES.test(error.message);
}

/** Whether a write failed because of the named unique constraint. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  const { code, constraint: named } = (error ?? {}) as { code?: string; constraint?: string };
  return code === '23505' && named === constraint;
}
