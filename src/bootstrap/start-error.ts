import { EmbeddedPostgresError } from '../../libs/embedded-postgres/index.js';
import { SettingsError } from '../platform/config/settings.js';
import { messageOf } from '../platform/errors/message-of.js';

/** Something outside the program keeps it from starting; the message is one line for an administrator. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** Whether an error explains itself to an administrator, so that a stack would only hide what it says. */
export const isPlainError = (error: unknown): error is Error =>
  error instanceof StartError || error instanceof SettingsError || error instanceof EmbeddedPostgresError;

/** Says why and ends the process with exit code 1. */
export function fail(error: unknown): never {
  process.stderr.write(
    isPlainError(error) ? `${error.message}\n` : `${error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exit(1);
}

/**
 * Waits until a server listens.
 * @param setting name of the setting that chose the port
 * @throws StartError that says what to change
 */
export async function listening(attempt: Promise<unknown>, setting: string, port: number): Promise<void> {
  try {
    await attempt;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL') {
      throw new StartError('HOST is no address of this machine. Set HOST to one of its own, or to 0.0.0.0', { cause });
    }
    const reason =
      (cause as NodeJS.ErrnoException).code === 'EADDRINUSE' ? 'is in use by another process' : messageOf(cause);
    throw new StartError(`${setting}=${port} ${reason}. Set ${setting} to another port`, { cause });
  }
}
