import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';
import { type EncryptionKeySetting, parseEncryptionKeys, SettingsError } from '../config/settings.js';
import { messageOf } from '../errors/message-of.js';
import { syncDirectory } from '../sync-directory.js';

const fileIn = (dataDir: string): string => path.join(dataDir, 'encryption-keys');

/**
 * The keys in `DATA_DIR/encryption-keys`.
 * @returns undefined if there is no such file
 * @throws SettingsError if it cannot be read or parsed
 */
export async function readKeyFile(dataDir: string): Promise<EncryptionKeySetting[] | undefined> {
  const file = fileIn(dataDir);
  try {
    return parseEncryptionKeys((await readWhenWritten(file)).trim());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unusable(file, error);
  }
}

/**
 * The keys in `DATA_DIR/encryption-keys`, created if there are none. A new file is durable when this returns, so that no
 * secret is encrypted with a key that a power failure could lose.
 * @returns the keys, and whether the file was created just now
 * @throws SettingsError if the file cannot be read, created or parsed
 */
export async function loadOrCreateKeyFile(
  dataDir: string,
): Promise<{ keys: EncryptionKeySetting[]; created: boolean }> {
  const file = fileIn(dataDir);
  try {
    await mkdir(dataDir, { recursive: true });
    const line = `k1:${randomBytes(32).toString('base64')}\n`;
    // 'wx' fails if the file exists, so two processes that start together end up with one key.
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(line);
      await handle.sync();
    } catch (error) {
      await unlink(file).catch(() => undefined);
      throw error;
    } finally {
      await handle.close();
    }
    await syncDirectory(dataDir);
    return { keys: parseEncryptionKeys(line.trim()), created: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(file, error);
  }
  const keys = await readKeyFile(dataDir);
  if (!keys) throw unusable(file, new Error('the file was deleted while it was read'));
  return { keys, created: false };
}

/** Another process may have just created the file and not written it yet. */
async function readWhenWritten(file: string): Promise<string> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const text = await readFile(file, 'utf8');
    if (text.endsWith('\n')) return text;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the file is incomplete');
}

function unusable(file: string, cause: unknown): SettingsError {
  const reason = messageOf(cause);
  return new SettingsError(
    `The encryption keys in ${file} cannot be used: ${reason}. Restore the file, or set ENCRYPTION_KEYS`,
    {
      cause,
    },
  );
}
