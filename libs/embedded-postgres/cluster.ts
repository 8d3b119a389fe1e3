import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  chooseAccount,
  describeOwnUser,
  describeUser,
  giveIfAllowed,
  giveTo,
  isRoot,
  programsError,
  type Account,
  type LaunchPlan,
} from './account.js';
import type { Binaries } from './binaries.js';
import { EmbeddedPostgresError, OWN_DATABASE } from './errors.js';
import { lastRelevantLine } from './server-log.js';
import { errorCode, run } from './process.js';

/** What lies in the folder of an embedded server. */
export interface Layout {
  /** real path, so that every process names the same folder in the same way */
  directory: string;
  /** the PostgreSQL data folder */
  data: string;
  /** the superuser's password, for this machine's eyes only */
  password: string;
  /** what the server itself writes */
  log: string;
  /** held while a process starts, joins or stops the server */
  lock: string;
  /** links to shared libraries, only where node_modules cannot be completed */
  libraries: string;
  /** who shall own the files beside the data, when that is not the user of this process (see chooseAccount) */
  owner: Account | undefined;
}

/** The role that owns everything. */
export const SUPERUSER = 'postgres';

const INIT_PREFIX = 'init-';

/**
 * Creates the folder if need be.
 *
 * @param directory any path; its parents are created too
 * @returns the paths inside it
 * @throws file system errors as they are
 */
export function prepareDirectory(directory: string): Layout {
  const wanted = resolve(directory);
  const lent = isRoot() ? chooseAccount(wanted, join(wanted, 'data')) : undefined;
  const owner = lent?.ownsAll ? lent.account : undefined;
  if (!existsSync(wanted)) {
    mkdirSync(dirname(wanted), { recursive: true });
    try {
      // Root's stand-in user has to pass through, whatever the umask is; what must stay private has its own mode.
      mkdirSync(wanted, { mode: 0o700 });
      if (lent) chmodSync(wanted, 0o711);
      giveIfAllowed(wanted, owner);
    } catch (error) {
      // Another process opens the same folder for the first time.
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
  const real = realpathSync(wanted);
  checkAccess(real);
  return {
    directory: real,
    data: join(real, 'data'),
    password: join(real, 'password'),
    log: join(real, 'server.log'),
    lock: join(real, 'open.lock'),
    libraries: join(real, 'lib'),
    owner,
  };
}

/** Opened as root or as another user before: the commonest cause of trouble deserves a clear message. */
function checkAccess(directory: string): void {
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error;
    throw new EmbeddedPostgresError(
      `The folder ${directory} of the embedded PostgreSQL belongs to ${describeUser(statSync(directory).uid)}, and this ` +
        `program, which runs as ${describeOwnUser()}, may not write there: it was opened by another user before. ` +
        `Start it as that user again, or set DATA_DIR to another folder, or ${OWN_DATABASE}.`,
      { cause: error },
    );
  }
}

/**
 * Checks that the data folder, if there is one, can be used by this program version and this user.
 *
 * @returns whether there is one
 * @throws EmbeddedPostgresError with the cure when it cannot be used
 */
export function checkDataFolder(layout: Layout, binaries: Pick<Binaries, 'major'>): boolean {
  let owner: number;
  try {
    owner = statSync(layout.data).uid;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
  if (!isRoot() && owner !== process.geteuid?.()) {
    throw new EmbeddedPostgresError(
      `The data folder ${layout.data} belongs to ${describeUser(owner)}, but this program runs as ` +
        `${describeOwnUser()}: it was opened by root or by another user before. Start it as that user (or root) again, ` +
        `or give ${layout.directory} with all it holds to ${describeOwnUser()} (chown -R), or set DATA_DIR to another folder.`,
    );
  }
  let version: string;
  try {
    version = readFileSync(join(layout.data, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    // An empty folder holds nothing that could be lost.
    if (readdirSync(layout.data).length === 0) return false;
    throw new EmbeddedPostgresError(
      `${layout.data} is not empty, but is no PostgreSQL data folder (it has no PG_VERSION). Restore it from a backup, ` +
        `move it away to start with an empty database, or set DATA_DIR to another folder.`,
    );
  }
  if (version !== String(binaries.major)) {
    throw new EmbeddedPostgresError(
      `The data in ${layout.data} are of PostgreSQL ${version}, but the embedded server is PostgreSQL ` +
        `${binaries.major}. Go back to the release of this program that wrote them and dump them there, or convert ` +
        `them with pg_upgrade, or move that folder away to start with an empty database, or ${OWN_DATABASE}.`,
    );
  }
  return true;
}

/**
 * @returns the stored password of the superuser
 * @throws EmbeddedPostgresError when the file is gone or not readable for this user
 */
export function readPassword(layout: Layout): string {
  try {
    const password = readFileSync(layout.password, 'utf8').trim();
    if (password) return password;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EACCES' || code === 'EPERM') {
      const owner = describeUser(statSync(layout.password).uid);
      throw new EmbeddedPostgresError(
        `The embedded PostgreSQL in ${layout.directory} was set up by ${owner}, but this program runs as ` +
          `${describeOwnUser()} and cannot read ${layout.password}. Start it as ${owner}, or set DATA_DIR to another folder.`,
        { cause: error },
      );
    }
    if (code !== 'ENOENT') throw error;
  }
  throw new EmbeddedPostgresError(
    `The password of the embedded PostgreSQL is missing: restore the file ${layout.password} from a backup (it belongs ` +
      `to the data beside it), or move ${layout.data} away to start with an empty database.`,
  );
}

/** Writes a file so that a crash leaves either all of it or nothing. */
function writeWhole(path: string, content: string, owner: Account | undefined): void {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  giveIfAllowed(temporary, owner);
  renameSync(temporary, path);
}

/** Removes what killed processes have left behind; the caller holds the lock. A still running orphan of initdb makes it fail: the next start removes it. */
export function removeRemains({ directory }: Layout): void {
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(INIT_PREFIX) && !name.startsWith('probe-') && !/^password\..*\.tmp$/.test(name)) continue;
    try {
      rmSync(join(directory, name), { recursive: true, force: true });
    } catch {
      // Not in the way.
    }
  }
}

/**
 * Creates the data folder. It is made under another name and renamed when complete, so that `kill -9` or a power cut
 * never leaves a half-made one. The caller holds the lock.
 *
 * @param settings sync: whether to force it to the disk (tests with fsync=off do not need it)
 * @returns the password
 * @throws EmbeddedPostgresError with what initdb says
 */
export async function createDataFolder(
  layout: Layout,
  binaries: Binaries,
  plan: LaunchPlan,
  settings: { env: NodeJS.ProcessEnv; sync: boolean },
): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  const work = join(layout.directory, `${INIT_PREFIX}${randomBytes(6).toString('hex')}`);
  mkdirSync(work, { mode: 0o700 });
  try {
    giveTo(plan, work);
    // The file that stays belongs to this process's user; the lent user needs one of its own to read it once.
    const passwordForInit = join(work, 'password');
    writeWhole(passwordForInit, password, plan.owner);
    const { code, output } = await run(
      [
        ...plan.prefix,
        binaries.initdb,
        `--pgdata=${join(work, 'data')}`,
        `--username=${SUPERUSER}`,
        `--pwfile=${passwordForInit}`,
        '--auth-host=scram-sha-256',
        '--auth-local=scram-sha-256',
        '--encoding=UTF8',
        // The built-in provider knows Unicode by itself; lc_* = C needs no locale of the operating system.
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-instructions',
        ...(settings.sync ? [] : ['--no-sync']),
      ],
      { env: settings.env, ...plan.identity },
    );
    if (code !== 0) throw initdbError(layout, binaries, code, output);
    unlinkSync(passwordForInit);
    // Before the data appear: data without a password would be lost, a password without data is replaced.
    writeWhole(layout.password, `${password}\n`, layout.owner);
    renameSync(join(work, 'data'), layout.data);
    if (settings.sync) syncFolder(layout.directory);
    return password;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A rename is only safe from a power cut when the folder itself is on the disk. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function initdbError(layout: Layout, binaries: Binaries, code: number | string, output: string): EmbeddedPostgresError {
  // It has not even begun: the program cannot be started, or its libraries cannot be loaded.
  if (/^(E[A-Z]+|126|127)$/.test(String(code))) return programsError(binaries.initdb, { code, output });
  const said = lastRelevantLine(output) ?? `initdb ended with ${code}`;
  let cure = `Remove the cause, or ${OWN_DATABASE}`;
  if (/could not look up effective user/.test(output)) {
    cure = `Add an entry for ${describeOwnUser()} to /etc/passwd, run as a user that has one, or ${OWN_DATABASE}`;
  } else if (/No space left|Disk quota/.test(output)) {
    cure = `Free some space (an empty database needs about 60 MB), or set DATA_DIR to a folder on another disk`;
  }
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL could not create its data folder in ${layout.directory}: ${said}. ${cure}.`,
  );
}
