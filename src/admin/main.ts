import '../bootstrap/environment.js';
import 'reflect-metadata';
import { CommanderError } from 'commander';
import { openAppContext } from '../bootstrap/app-context.js';
import { DomainError } from '../platform/errors/domain-error.js';
import { DecryptionError } from '../platform/encryption/key-ring.js';
import { readSettings } from '../platform/config/settings.js';
import { createLogger } from '../platform/observability/logger.js';
import { isPlainError } from '../bootstrap/start-error.js';
import { adminProgram } from './admin-program.js';
import { openAdmin } from './admin.module.js';
import { RotationError } from './secret-commands.js';

/** Runs one command; opens the database only if its arguments are valid. */
async function run(args: readonly string[]): Promise<void> {
  const program = adminProgram(async (work) => {
    const settings = readSettings(process.env);
    // Standard output is for the command's result.
    const logger = createLogger({ logLevel: 'warn', logFormat: 'pretty' }, process.stderr);
    const appContext = await openAppContext(settings, logger);
    try {
      const admin = await openAdmin(appContext);
      await work(admin).finally(() => admin.close());
    } finally {
      await appContext.release();
    }
  });
  await program.parseAsync(args, { from: 'user' });
}

function explain(error: unknown): { text: string; status: number } {
  // Commander has already printed an explanation.
  if (error instanceof CommanderError) return { text: '', status: error.exitCode === 0 ? 0 : 2 };
  if (error instanceof DomainError && error.code === 'NOT_FOUND') {
    return { text: 'Not found. `workspace list` and `key list` show the identifiers', status: 1 };
  }
  if (error instanceof DomainError)
    return { text: [error.message, ...(error.issues ?? []).map(({ message }) => message)].join(': '), status: 1 };
  if (isPlainError(error) || error instanceof RotationError || error instanceof DecryptionError) {
    return { text: error.message, status: 1 };
  }
  return { text: error instanceof Error ? (error.stack ?? error.message) : String(error), status: 1 };
}

await run(process.argv.slice(2)).catch((error: unknown) => {
  const { text, status } = explain(error);
  if (text !== '') process.stderr.write(`${text}\n`);
  process.exitCode = status;
});
