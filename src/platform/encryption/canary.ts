import type { DataSource } from 'typeorm';
import { SettingsError } from '../config/settings.js';
import * as sql from './canary.sql.js';
import { DecryptionError, type KeyRing } from './key-ring.js';

const PURPOSE = 'canary';
const CLEAR = 'the configured keys open this database';

/**
 * Checks at start that the configured keys are the ones this database was written with.
 * @throws SettingsError if they are not
 */
export async function checkCanary(dataSource: DataSource, keyRing: KeyRing): Promise<void> {
  await dataSource.query(sql.INSERT, [keyRing.encrypt(CLEAR, PURPOSE)]);
  const [row] = await dataSource.query<{ sealed: string }[]>(sql.FIND);
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
export async function renewCanary(dataSource: DataSource, keyRing: KeyRing): Promise<void> {
  await dataSource.query(sql.UPDATE, [keyRing.encrypt(CLEAR, PURPOSE)]);
}
