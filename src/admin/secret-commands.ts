import type { Command } from 'commander';
import type { WithAdmin } from './admin.module.js';
import { reEncrypt, type SecretCounts } from './re-encrypt.js';

/** The old keys are still needed; the message says why and what to do. */
export class RotationError extends Error {
  override readonly name = 'RotationError';
}

export function addSecretCommands(command: Command, withAdmin: WithAdmin): void {
  command
    .command('re-encrypt')
    .description('Re-encrypts all stored secrets with the first key of ENCRYPTION_KEYS')
    .action(() =>
      withAdmin(async ({ appContext: { dataSource, keyRing } }) => {
        const { found, done, left } = await reEncrypt(dataSource, keyRing, (count, total) => {
          process.stderr.write(`\r${count} of ${total} secrets${count === total ? '\n' : ''}`);
        });
        process.stdout.write(`${summary(found)}\n`);
        const [first = '', ...older] = keyRing.ids;
        const reason = stillNeeded(first, older, left);
        const result = `Re-encrypted ${counted(done)} under ${first}.`;
        if (reason !== undefined) throw new RotationError(`${result} Do not remove any key: ${reason}`);
        process.stdout.write(
          `${result} Every secret is under ${first}; these keys can be removed: ${older.join(', ')}\n`,
        );
      }),
    );
}

/** `Found 12 secrets: 10 under k1, 2 under k2` */
function summary(found: SecretCounts): string {
  const total = [...found.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...found].map(([id, count]) => (id === null ? `${count} not encrypted` : `${count} under ${id}`));
  return `Found ${counted(total)}${parts.length > 0 ? `: ${parts.sort().join(', ')}` : ''}`;
}

/** Why the older keys cannot be removed yet. */
function stillNeeded(first: string, older: readonly string[], left: SecretCounts): string | undefined {
  if (left.has(null)) {
    return `${counted(left.get(null) ?? 0)} not encrypted at all. Set them again through the API`;
  }
  const unknown = [...left].filter(([id]) => id !== null && !older.includes(id));
  if (unknown.length > 0) {
    const counts = unknown.map(([id, count]) => `${counted(count)} under ${id}`);
    return `${counts.join(', ')}, which is not configured. Add it to ENCRYPTION_KEYS and run this again`;
  }
  if (left.size > 0) {
    const counts = [...left].map(([id, count]) => `${counted(count)} under ${id}`);
    return (
      `${counts.join(', ')} written during this command by a process that still encrypts with it. ` +
      `Restart every process with ${first} first and run this again`
    );
  }
  if (older.length === 0) {
    return (
      `${first} is the only one configured here. To rotate, put a new key first in ENCRYPTION_KEYS, keep ${first} ` +
      'after it, restart every process and run this with the same setting'
    );
  }
  return undefined;
}

const counted = (count: number): string => (count === 1 ? '1 secret' : `${count} secrets`);
