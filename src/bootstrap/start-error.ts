import { EmbeddedPostgresError } from '../../libs/embedded-postgres/index.js';
import { SettingsError } from '../platform/config/settings.js';
import { messageOf } from '../platform/errors/message-of.js';

/** The program cannot start for an external reason; the message is one line for an administrator. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** Whether the message of an error is enough for an administrator, without a stack. */
export const isPlainError = (error: unknown): error is Error =>
  error instanceof StartError || error instanceof SettingsError || error instanceof EmbeddedPostgresError;

/** Prints the reason and exits with code 1. */
export function fail(error: unknown): never {
  process.stderr.write(
    isPlainError(error) ? `${error.message}\n` : `${error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exit(1);
}

/** Codes for a HOST that is another machine's address, or a name without one. */
const NO_ADDRESS: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN']);

/**
 * Waits until a server listens.
 * @param setting name of the setting with the port
 * @throws StartError with the setting to change
 */
export async function listening(attempt: Promise<unknown>, setting: string, port: number): Promise<void> {
  try {
    await attempt;
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (NO_ADDRESS.has(code)) {
      throw new StartError('HOST is not an address of this machine. Set HOST to one of its addresses, or to 0.0.0.0', {
        cause,
      });
    }
    const reason = code === 'EADDRINUSE' ? 'is in use by another process' : messageOf(cause);
    throw new StartError(`${setting}=${port} ${reason}. Set ${setting} to another port`, { cause });
  }
}
