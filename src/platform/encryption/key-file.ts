import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type EncryptionKeySetting, parseEncryptionKeys, SettingsError } from '../config/settings.js';
import { messageOf } from '../errors/message-of.js';

/**
 * The keys in `DATA_DIR/encryption-keys`, created at the first start.
 * @returns the keys, and whether the file was created just now
 * @throws SettingsError if the file cannot be read, created or parsed
 */
export async function loadOrCreateKeyFile(
  dataDir: string,
): Promise<{ keys: EncryptionKeySetting[]; created: boolean }> {
  const file = path.join(dataDir, 'encryption-keys');
  try {
    await mkdir(dataDir, { recursive: true });
    // 'wx' fails if the file exists, so two processes that start together end up with one key.
    const handle = await open(file, 'wx', 0o600);
    const line = `k1:${randomBytes(32).toString('base64')}\n`;
    await handle.writeFile(line);
    await handle.sync();
    await handle.close();
    return { keys: parseEncryptionKeys(line.trim()), created: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unusable(file, error);
  }
  try {
    return { keys: parseEncryptionKeys((await readWhenWritten(file)).trim()), created: false };
  } catch (error) {
    throw unusable(file, error);
  }
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
