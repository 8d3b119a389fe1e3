/** The alternative that always works, for the end of an error message. */
export const OWN_DATABASE = 'set DATABASE_URL to a PostgreSQL server of your own';

/** One line for an administrator: what is wrong with the embedded server and how to fix it. Never holds the password. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';

  constructor(message: string, options?: ErrorOptions) {
    // The output of PostgreSQL's programs may span several lines.
    super(message.replace(/\s*\n\s*/g, ' | ').trim(), options);
  }
}

/** The `code` of a Node or PostgreSQL error ("ENOENT", "57P03"), if it has one. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

const FIXES: readonly (readonly [cause: RegExp, fix: string])[] = [
  [/ENOSPC|EDQUOT|No space left|Disk quota/, 'Free some space on the disk, or set DATA_DIR to a folder on another one'],
  [/unrecognized configuration parameter|invalid value for parameter/, 'Correct that setting'],
  [/could not bind|could not create any TCP|listen E/, 'Allow the program to open ports of 127.0.0.1'],
  [/shared memory|postmaster.pid" already/, 'Stop the PostgreSQL processes that a killed server of that folder left'],
  [/could not look up effective user/, 'Run as a user that has an entry in /etc/passwd'],
  [/EACCES|EPERM|EROFS|Permission denied/, 'Run as the owner of that folder, or set DATA_DIR to a writable folder'],
  [/in time|server did not start/, 'It may be recovering or shutting down: start this program again, or read its log'],
  [/ENOTDIR|EEXIST/, 'A file is in the way: remove it or set DATA_DIR to another folder'],
];

/** @returns the fix for an error message of Node, initdb or the server */
export function fixFor(message: string): string {
  const known = FIXES.find(([cause]) => cause.test(message));
  return `${known?.[1] ?? 'Fix the cause, restore the data from a backup'}, or ${OWN_DATABASE}`;
}

/** Turns any error into an EmbeddedPostgresError. @param directory the folder of the embedded server */
export function explain(error: unknown, directory: string): EmbeddedPostgresError {
  if (error instanceof EmbeddedPostgresError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL in ${directory} cannot be used: ${message}. ${fixFor(message)}.`,
    { cause: error },
  );
}
