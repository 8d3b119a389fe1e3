import type { DataSource, EntityManager } from 'typeorm';
import { SettingsError } from '../config/settings.js';
import * as sql from './canary.sql.js';
import { DecryptionError, type KeyRing } from './key-ring.js';

const PURPOSE = 'canary';
const CLEAR = 'the configured keys open this database';

/** What runs the statements: a connection of the pool, or a transaction. */
type Connection = Pick<DataSource | EntityManager, 'query'>;

/**
 * Serialises first starts until the transaction ends, so that only one of several processes generates a key.
 * @returns the id of the key that the canary is encrypted with; undefined in a database without one
 */
export async function lockCanary(manager: EntityManager): Promise<string | undefined> {
  await manager.query(sql.LOCK);
  const [row] = await manager.query<{ sealed: string }[]>(sql.FIND);
  return row?.sealed.split('.', 1)[0];
}

/**
 * Checks at start that the configured keys are the ones this database was written with.
 * @throws SettingsError if they are not
 */
export async function checkCanary(connection: Connection, keyRing: KeyRing): Promise<void> {
  await connection.query(sql.INSERT, [keyRing.encrypt(CLEAR, PURPOSE)]);
  const [row] = await connection.query<{ sealed: string }[]>(sql.FIND);
  try {
    if (row && keyRing.decrypt(row.sealed, PURPOSE) === CLEAR) return;
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    throw new SettingsError(
      `The encryption keys do not match this database: ${error.message}. ` +
        'Start with the keys it was written with: ENCRYPTION_KEYS, or the file encryption-keys in DATA_DIR',
      { cause: error },
    );
  }
  throw new SettingsError('The encryption canary of this database is damaged; restore the database from a backup');
}

/** Encrypts the canary with the first key, after all other secrets. */
export async function renewCanary(connection: Connection, keyRing: KeyRing): Promise<void> {
  await connection.query(sql.UPDATE, [keyRing.encrypt(CLEAR, PURPOSE)]);
}
