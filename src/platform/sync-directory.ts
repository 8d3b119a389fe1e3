import { open } from 'node:fs/promises';

/** Makes the entries of a directory durable: syncing a new file alone does not store its name. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
