import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { chooseAccount, giveFolder } from './account.js';
import { EmbeddedPostgresError, errorCode, fixFor, OWN_DATABASE } from './errors.js';
import type { PgCtl } from './pg-ctl.js';
import { lastRelevantLine } from './server-log.js';

/** The files in the folder of an embedded server. */
export type Layout = ReturnType<typeof prepareDirectory>;

/** The role that owns everything. */
export const SUPERUSER = 'postgres';
const INIT_PREFIX = 'init-';
/** Age after which an unfinished data directory was left behind by a killed process, milliseconds. */
const ABANDONED_MS = 3_600_000;

/**
 * Creates the folder if needed and checks that it can be used.
 *
 * @param directory any path; its parents are created too
 * @throws EmbeddedPostgresError or file system errors
 */
export function prepareDirectory(directory: string) {
  const wanted = resolve(directory);
  // postmaster.pid has the directory in a line of its own.
  if (/[\n\r]/.test(wanted)) {
    throw new EmbeddedPostgresError(
      'The embedded PostgreSQL accepts no line break in DATA_DIR. Set it to another folder.',
    );
  }
  const account = chooseAccount(wanted);
  mkdirSync(dirname(wanted), { recursive: true });
  // Recursive: not an error when another process has just created it.
  mkdirSync(wanted, { recursive: true, mode: 0o700 });
  const real = realpathSync(wanted);
  if (account) giveFolder(account, real);
  return {
    directory: real,
    /** PostgreSQL's data directory */
    data: join(real, 'data'),
    /** the superuser's password */
    password: join(real, 'password'),
    /** the server's own log */
    log: join(real, 'server.log'),
    /** links to shared libraries, only where node_modules is incomplete and read-only */
    libraries: join(real, 'lib'),
    /** the user that the server runs as, when this process is root */
    account,
  };
}

/**
 * Checks that the data directory fits this version of the program.
 *
 * @param major version of the server
 * @returns whether it exists
 * @throws EmbeddedPostgresError when it cannot be used
 */
export function checkDataDirectory({ data }: Layout, major: number): boolean {
  if (!existsSync(data) || readdirSync(data).length === 0) return false;
  const versionFile = join(data, 'PG_VERSION');
  if (!existsSync(versionFile)) {
    throw new EmbeddedPostgresError(
      `${data} is not empty, but is not a PostgreSQL data directory (PG_VERSION is missing). Restore it from a ` +
        'backup, move it away to start with an empty database, or set DATA_DIR to another folder.',
    );
  }
  const version = readFileSync(versionFile, 'utf8').trim();
  if (version !== String(major)) {
    throw new EmbeddedPostgresError(
      `The data in ${data} is from PostgreSQL ${version}, but the embedded server is PostgreSQL ${major}. Return to the ` +
        `release of this program that wrote it and dump it there, or convert it with pg_upgrade, or move that folder ` +
        `away to start with an empty database, or ${OWN_DATABASE}.`,
    );
  }
  // PostgreSQL refuses other modes, which a restored archive may have.
  if ((statSync(data).mode & 0o027) !== 0) chmodSync(data, 0o700);
  return true;
}

/** The error for data that was there before. */
export const missingData = ({ data }: Layout): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    `The data of the embedded PostgreSQL is gone: ${data} is missing or empty. Restore it from a backup, or start this ` +
      'program again to begin with an empty database.',
  );

/**
 * @returns the stored password of the superuser
 * @throws EmbeddedPostgresError when the file is missing or empty
 */
export function readPassword(layout: Layout): string {
  const password = existsSync(layout.password) && readFileSync(layout.password, 'utf8').trim();
  if (password) return password;
  throw new EmbeddedPostgresError(
    `The password of the embedded PostgreSQL is missing: restore the file ${layout.password} from a backup (it belongs ` +
      `to the data beside it), or move ${layout.data} away to start with an empty database.`,
  );
}

/** Creates the password file unless it exists. It is linked when complete, so several processes agree on one password. */
function createPassword(path: string): void {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(temporary, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flush: true });
    linkSync(temporary, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function removeAbandoned(directory: string): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (name.startsWith(INIT_PREFIX) && modified < Date.now() - ABANDONED_MS) rmSync(path, { recursive: true });
  }
}

/**
 * Creates the data directory. It is created under another name and renamed when complete, so that `kill -9` never
 * leaves a partial one and the first of several processes wins.
 *
 * @param sync whether to flush it to disk (not needed with fsync=off)
 * @throws EmbeddedPostgresError with the message of initdb
 */
export async function createDataDirectory(layout: Layout, pgCtl: PgCtl, sync: boolean): Promise<void> {
  const { directory, account } = layout;
  removeAbandoned(directory);
  createPassword(layout.password);
  const work = join(directory, `${INIT_PREFIX}${randomBytes(6).toString('hex')}`);
  mkdirSync(work, { mode: 0o700 });
  if (account) giveFolder(account, directory);
  try {
    const { code, output } = await pgCtl.run('initdb', [
      `--pgdata=${join(work, 'data')}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${layout.password}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Unicode rules that are built into PostgreSQL: independent of the operating system's locales.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(sync ? [] : ['--no-sync']),
    ]);
    if (code !== 0) {
      const cause = lastRelevantLine(output) ?? `initdb ended with ${code}`;
      throw new EmbeddedPostgresError(
        `The embedded PostgreSQL could not create its data directory in ${directory}: ${cause}. ${fixFor(output)}.`,
      );
    }
    renameSync(join(work, 'data'), layout.data);
  } catch (error) {
    // Another process was faster.
    if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
