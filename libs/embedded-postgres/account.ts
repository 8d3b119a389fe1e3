import { existsSync, lchownSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError, errorCode, OWN_DATABASE } from './errors.js';

/** An ordinary user. PostgreSQL refuses to run as root, so a root process runs it as one, who owns its folder. */
export interface Account {
  uid: number;
  gid: number;
}

function readAccounts(): (Account & { name: string })[] {
  if (!existsSync('/etc/passwd')) return [];
  const fields = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  // macOS writes the ids of `nobody` as -2.
  return fields.map(([name = '', , uid, gid]) => ({ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }));
}

/** "nobody (uid 65534)", for messages; by default the user of this process. */
export function describeUser(uid = process.geteuid?.()): string {
  const name = uid === 0 ? 'root' : readAccounts().find((account) => account.uid === uid)?.name;
  return name ? `${name} (uid ${uid})` : `uid ${uid}`;
}

/**
 * Chooses the user for a root process: the owner of the data, otherwise of the closest folder above it that does not
 * belong to root (so that `sudo npm start` creates files that one can use without sudo), otherwise `postgres` or `nobody`.
 *
 * @param directory absolute; need not exist
 * @returns undefined when this process is not root
 * @throws EmbeddedPostgresError when there is no ordinary user
 */
export function chooseAccount(directory: string): Account | undefined {
  if (process.geteuid?.() !== 0) return undefined;
  // initdb needs a user with an entry in /etc/passwd.
  const accounts = readAccounts().filter(({ uid, gid }) => uid > 0 && gid > 0);
  const data = join(directory, 'data');
  for (let path = data; path !== dirname(path); path = dirname(path)) {
    const owner = statSync(path, { throwIfNoEntry: false });
    if (owner && owner.uid > 0 && (path === data || accounts.some(({ uid }) => uid === owner.uid))) {
      return { uid: owner.uid, gid: owner.gid };
    }
  }
  const account = ['postgres', 'nobody'].map((wanted) => accounts.find(({ name }) => name === wanted)).find(Boolean);
  if (account) return { uid: account.uid, gid: account.gid };
  throw accountError('the ordinary user "nobody" does not exist. Create it');
}

/**
 * Gives the folder to the account, also after root has restored a backup or edited a setting.
 *
 * @throws EmbeddedPostgresError when this process may not change owners
 */
export function giveFolder(account: Account, directory: string): void {
  try {
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    for (const path of [directory, ...files.map((file) => join(directory, file))]) {
      const owner = lstatSync(path, { throwIfNoEntry: false })?.uid;
      if (owner !== undefined && owner !== account.uid) lchownSync(path, account.uid, account.gid);
    }
  } catch (error) {
    if (errorCode(error) === 'EPERM') throw cannotSwitch(account);
    // Another process has removed its temporary file.
    if (errorCode(error) === 'ENOENT') return giveFolder(account, directory);
    throw error;
  }
}

/**
 * Linux: a command that runs the rest of its arguments as the account, but lets it enter and read all folders. Needed
 * where the project or its data is in a folder that is private to root, such as /root or one created by `mktemp -d`.
 */
export function withReadAccess({ uid, gid }: Account): readonly string[] {
  return [
    'setpriv',
    // PostgreSQL checks its own program with access(2), which ignores the capability without this bit.
    '--securebits=+no_setuid_fixup',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=-all,+dac_read_search',
    '--ambient-caps=-all,+dac_read_search',
    '--',
  ];
}

/** The error of a root without privileges, as in a container that has dropped all capabilities. */
export function cannotSwitch({ uid }: Account): EmbeddedPostgresError {
  return accountError(
    `this root may not act as the ordinary user ${describeUser(uid)}. ` +
      'Give it the capabilities CHOWN, SETUID and SETGID (a container may have dropped them)',
  );
}

/** The error when the mode of a file or of a folder above it excludes the account. */
export function cannotReach({ uid }: Account, path: string): EmbeddedPostgresError {
  const user = describeUser(uid);
  return accountError(
    `the ordinary user ${user} cannot use ${path}. ` +
      `Move the project, and DATA_DIR if it is set, to a folder that ${user} can enter (such as /opt)`,
  );
}

function accountError(problemAndFix: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL cannot run as root, and ${problemAndFix}, or start this program as an ordinary user, or ${OWN_DATABASE}.`,
  );
}
