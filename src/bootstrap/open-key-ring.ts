import path from 'node:path';
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { type EncryptionKeySetting, type Settings, SettingsError } from '../platform/config/settings.js';
import { checkCanary, lockCanary } from '../platform/encryption/canary.js';
import { loadOrCreateKeyFile, readKeyFile } from '../platform/encryption/key-file.js';
import { KeyRing } from '../platform/encryption/key-ring.js';

/**
 * The keys of ENCRYPTION_KEYS or of the file in DATA_DIR, checked against the database. The file is created only for a
 * database without secrets: for any other one a new key would be useless, and would look like the right one.
 * @throws SettingsError if there are no keys or they are not those of the database
 */
export async function openKeyRing(dataSource: DataSource, settings: Settings, logger: Logger): Promise<KeyRing> {
  return dataSource.transaction(async (manager) => {
    const keys = settings.encryptionKeys ?? (await keysOfFile(settings, await lockCanary(manager), logger));
    const keyRing = new KeyRing(keys);
    await checkCanary(manager, keyRing);
    return keyRing;
  });
}

/** @param usedId id of the key that the database is encrypted with; undefined for a new database */
async function keysOfFile(
  { dataDir, databaseUrl }: Settings,
  usedId: string | undefined,
  logger: Logger,
): Promise<readonly EncryptionKeySetting[]> {
  const directory = path.resolve(dataDir);
  const file = path.join(directory, 'encryption-keys');
  const { keys, created } =
    usedId === undefined
      ? await loadOrCreateKeyFile(directory)
      : { keys: await readKeyFile(directory), created: false };
  if (!keys) {
    throw new SettingsError(
      `The secrets of this database are encrypted with the key "${usedId}", but ENCRYPTION_KEYS is not set and ${file} ` +
        'does not exist. Set ENCRYPTION_KEYS or restore the file',
    );
  }
  if (databaseUrl !== undefined) {
    logger.warn(
      `ENCRYPTION_KEYS is not set: ${created ? 'generated keys in' : 'using the keys in'} ${file}. ` +
        'Every process on this database needs the same keys; without them its secrets are lost',
    );
  }
  return keys;
}
