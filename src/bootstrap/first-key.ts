import { open, rename } from 'node:fs/promises';
import path from 'node:path';
import type { FirstKeyService } from '../modules/api-keys/first-key.service.js';
import type { Settings } from '../platform/config/settings.js';
import { messageOf } from '../platform/errors/message-of.js';
import { syncDirectory } from '../platform/sync-directory.js';
import { StartError } from './start-error.js';

const FILE_NAME = 'first-admin-key';

/** Where an administrator finds the first key: on the terminal, or in a file. */
export type FirstKeyLocation = { readonly apiKey: string } | { readonly file: string };

/**
 * Creates the first workspace of an empty database. Its generated key goes to a file unless standard output is a terminal:
 * what a service prints is usually kept in logs, which more people read than may have an ADMIN key.
 * @returns undefined if there is a workspace already or the administrator chose the key
 * @throws StartError if the file cannot be written; then nothing is created
 */
export async function createFirstKey(
  firstKeys: FirstKeyService,
  { bootstrapApiKey, dataDir }: Pick<Settings, 'bootstrapApiKey' | 'dataDir'>,
  isTerminal: boolean,
): Promise<FirstKeyLocation | undefined> {
  const file = path.resolve(dataDir, FILE_NAME);
  const isWritten = bootstrapApiKey === undefined && !isTerminal;
  const created = await firstKeys.bootstrap(bootstrapApiKey, async ({ apiKey }) => {
    if (isWritten) await writeKey(file, apiKey);
  });
  if (!created || bootstrapApiKey !== undefined) return undefined;
  return isWritten ? { file } : { apiKey: created.apiKey };
}

/** Durable when it returns. Replaces the file of a start that failed before its key was committed. */
async function writeKey(file: string, apiKey: string): Promise<void> {
  try {
    const temporary = `${file}.${process.pid}`;
    const handle = await open(temporary, 'w', 0o600);
    try {
      // The mode above does not apply to a file that exists.
      await handle.chmod(0o600);
      await handle.writeFile(`${apiKey}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
    await syncDirectory(path.dirname(file));
  } catch (cause) {
    throw new StartError(`The first ADMIN key cannot be written to ${file}: ${messageOf(cause)}. Check DATA_DIR`, {
      cause,
    });
  }
}
