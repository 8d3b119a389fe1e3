import { errorCode } from './process.js';

/** The way out that always works, for the end of an error message. */
export const OWN_DATABASE = 'set DATABASE_URL to a PostgreSQL server of your own';

/**
 * What is wrong with the embedded server and the cure, in one line that an administrator can act on.
 * It never holds the password.
 */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';

  constructor(message: string, options?: ErrorOptions) {
    // Lines of a foreign program end up in here; a log line has to stay one line.
    super(message.replace(/\s*\n\s*/g, ' | ').trim(), options);
  }
}

/**
 * Turns whatever failed below into an EmbeddedPostgresError. File system errors get the folder, the user and the cure.
 *
 * @param error what was thrown
 * @param directory the folder of the embedded server
 * @param user the user of this process, readable
 */
export function explain(error: unknown, directory: string, user: string): EmbeddedPostgresError {
  if (error instanceof EmbeddedPostgresError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const cures: Record<string, string> = {
    EACCES: `The user ${user} must be able to read and write that folder: run as the user who owns it, change its owner, set DATA_DIR to another folder, or ${OWN_DATABASE}`,
    EROFS: `Set DATA_DIR to a folder that can be written, or ${OWN_DATABASE}`,
    ENOSPC: `The disk is full: free some space, or set DATA_DIR to a folder on another disk`,
    ENOTDIR: `A part of that path is a file: set DATA_DIR to a folder`,
    EEXIST: `A file is in the way: remove it or set DATA_DIR to another folder`,
  };
  cures.EPERM = cures.EACCES!;
  cures.EDQUOT = cures.ENOSPC!;
  const cure = cures[errorCode(error) ?? ''] ?? `If this persists, set DATA_DIR to another folder, or ${OWN_DATABASE}`;
  return new EmbeddedPostgresError(`The embedded PostgreSQL in ${directory} cannot be used: ${message}. ${cure}.`, {
    cause: error,
  });
}
