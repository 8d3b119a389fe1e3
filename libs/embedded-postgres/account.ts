import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError, OWN_DATABASE } from './errors.js';
import { errorCode, run, type Outcome } from './process.js';
import { lastRelevantLine } from './server-log.js';

/**
 * As which user, and how, the PostgreSQL programs are started. PostgreSQL refuses to run as root, so root has to lend
 * it an ordinary user, and that user may be unable to reach a project in /root or in a `mktemp -d` folder.
 */

/** An owner of files or processes. */
export interface Account {
  uid: number;
  gid: number;
}

/** A proven way to start the programs. */
export interface LaunchPlan {
  /** readable, for the log */
  how: string;
  /** stands in front of the program and its arguments */
  prefix: readonly string[];
  /** to be handed to spawn: uid and gid, or nothing */
  identity: Partial<Account>;
  /** who must own the data folder; undefined when it is this process's own user */
  owner: Account | undefined;
}

interface NamedAccount extends Account {
  name: string;
}

/** The users in /etc/passwd. */
function readAccounts(): NamedAccount[] {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .filter((fields) => fields.length > 3 && fields[0] && !fields[0].startsWith('#'))
      .map(([name, , uid, gid]) => ({ name: name!, uid: toId(uid), gid: toId(gid) }));
  } catch {
    return [];
  }
}

/** macOS writes its `nobody` as -2. */
function toId(text: string | undefined): number {
  return Number(text) >>> 0;
}

/** "nobody (uid 65534)", for messages. */
export function describeUser(uid: number | undefined): string {
  const name = readAccounts().find((account) => account.uid === uid)?.name;
  return name ? `${name} (uid ${uid})` : `uid ${uid}`;
}

/** The user of this process, for messages. */
export function describeOwnUser(): string {
  return describeUser(process.geteuid?.());
}

/** Whether this process is root, which PostgreSQL refuses to run as. */
export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

function ownerOf(path: string): Account | undefined {
  try {
    const { uid, gid } = statSync(path);
    return { uid, gid };
  } catch {
    return undefined;
  }
}

/**
 * The ordinary user that root lends to the server.
 *
 * @returns the account, and whether the files beside the data belong to it as well: true when it is the owner of the
 *   surroundings (somebody ran `sudo npm start` in his own project and shall be able to go on without sudo), false for
 *   stand-ins such as `nobody`, who must not be able to read the password
 */
export function chooseAccount(directory: string, dataFolder: string): { account: Account; ownsAll: boolean } {
  const accounts = readAccounts().filter(({ uid, gid }) => uid > 0 && gid > 0);
  const standIn = ['postgres', 'nobody'].map((name) => accounts.find((account) => account.name === name));
  const isStandIn = (uid: number): boolean => standIn.some((account) => account?.uid === uid);

  const dataOwner = ownerOf(dataFolder);
  if (dataOwner && dataOwner.uid > 0) return { account: dataOwner, ownsAll: !isStandIn(dataOwner.uid) };

  let existing = directory;
  while (!ownerOf(existing) && dirname(existing) !== existing) existing = dirname(existing);
  const owner = ownerOf(existing);
  // initdb looks its user up, so a bare number (a volume of a container) will not do.
  if (owner && owner.gid > 0 && accounts.some(({ uid }) => uid === owner.uid)) {
    return { account: owner, ownsAll: !isStandIn(owner.uid) };
  }

  const account = standIn.find(Boolean) ?? accounts[0];
  if (!account) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL cannot run as root, and /etc/passwd has no ordinary user to run it as. ` +
        `Start this program as an ordinary user, or ${OWN_DATABASE}.`,
    );
  }
  return { account: { uid: account.uid, gid: account.gid }, ownsAll: false };
}

/** The ways to become that user, simplest and least powerful first. */
function candidatePlans(account: Account, dataFolder: string): LaunchPlan[] {
  const { uid, gid } = account;
  const who = describeUser(uid);
  const plans: LaunchPlan[] = [{ how: `as ${who}`, prefix: [], identity: { uid, gid }, owner: account }];
  if (process.platform !== 'linux') return plans;
  for (const capability of ['dac_read_search', 'dac_override']) {
    plans.push({
      how: `as ${who} with the capability ${capability}`,
      prefix: [
        'setpriv',
        // PostgreSQL checks its own program with access(2), which ignores the capabilities of an ordinary user
        // unless this bit is set: without it, it claims that it cannot find itself.
        '--securebits=+no_setuid_fixup',
        `--reuid=${uid}`,
        `--regid=${gid}`,
        '--clear-groups',
        `--inh-caps=-all,+${capability}`,
        `--ambient-caps=-all,+${capability}`,
        '--',
      ],
      identity: {},
      owner: account,
    });
  }
  const dataOwner = ownerOf(dataFolder);
  if (!dataOwner || dataOwner.uid === 0) {
    // Looks like the ordinary user to PostgreSQL, remains root without privileges to the file system.
    plans.push({
      how: `as ${who} in a user namespace`,
      prefix: ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--'],
      identity: {},
      owner: { uid: 0, gid: process.getegid?.() ?? 0 },
    });
  }
  return plans;
}

/**
 * Finds a way to run the programs that works here, by trying: permissions can depend on more than the mode bits
 * (access lists, mounts, a container's reduced capabilities).
 *
 * @param place the folder of the embedded server, which must exist, and its data folder, which need not
 * @param postgres the program
 * @param env its environment (see programEnvironment)
 * @returns the plan; an ordinary user's plan is not tried, its faults show at the start
 * @throws EmbeddedPostgresError when root has no way to run the server
 */
export async function planLaunch(
  place: { directory: string; dataFolder: string },
  postgres: string,
  env: NodeJS.ProcessEnv,
): Promise<LaunchPlan> {
  if (!isRoot()) return { how: 'as this user', prefix: [], identity: {}, owner: undefined };
  const { account } = chooseAccount(place.directory, place.dataFolder);
  const failures: string[] = [];
  let plain: PlanFailure | undefined;
  for (const plan of candidatePlans(account, place.dataFolder)) {
    const failure = await tryPlan(plan, place.directory, postgres, env);
    if (!failure) return plan;
    plain ??= failure;
    failures.push(`${plan.how}: ${failure.message}`);
  }
  const faulty = await run([postgres, '-V'], { env });
  // Not a matter of users, then.
  if (faulty.code !== 0) throw programsError(postgres, faulty);
  const who = describeUser(account.uid);
  const [fault, cure] = {
    rights: [
      `this root may not act as the ordinary user ${who}`,
      'Give it the capabilities CHOWN, SETUID and SETGID (a container has dropped them)',
    ],
    program: [
      `the ordinary user ${who} cannot run ${postgres}`,
      `Move the project, and DATA_DIR if it is set, to a folder that ${who} can reach (such as /opt)`,
    ],
    folder: [
      `the ordinary user ${who} cannot use the folder ${place.directory}`,
      `Set DATA_DIR to a folder that ${who} can reach (such as one below /var/lib)`,
    ],
  }[plain?.at ?? 'rights'];
  throw new EmbeddedPostgresError(
    `The embedded PostgreSQL cannot run as root, and ${fault}. ` +
      `${cure}, or start this program as an ordinary user, or ${OWN_DATABASE}. (Tried ${failures.join('; ')})`,
  );
}

/** The error for a program that nobody can run. */
export function programsError(program: string, { code, output }: Outcome): EmbeddedPostgresError {
  const loaderMissing = code === 'ENOENT' || code === 127 || /Error (loading|relocating)|GLIBC/.test(output);
  const cure =
    loaderMissing && !/error while loading shared/.test(output)
      ? `This system seems to have no fitting GNU C library (Alpine Linux?): use one that has it, or ${OWN_DATABASE}`
      : `Run "npm ci" again and see to it that the file can be executed, or ${OWN_DATABASE}`;
  const said = lastRelevantLine(output) ?? `ended with ${code}`;
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL program ${program} cannot be run: ${said} (${code}). ${cure}.`,
  );
}

interface PlanFailure {
  /** becoming the user, running the program, or writing into the folder */
  at: 'rights' | 'program' | 'folder';
  message: string;
}

/** Runs the program and writes into a folder below `directory` in this way. Nothing when both work. */
async function tryPlan(
  plan: LaunchPlan,
  directory: string,
  postgres: string,
  env: NodeJS.ProcessEnv,
): Promise<PlanFailure | undefined> {
  const folder = join(directory, `probe-${randomBytes(6).toString('hex')}`);
  mkdirSync(folder, { mode: 0o700 });
  try {
    try {
      giveTo(plan, folder);
    } catch (error) {
      // A root without the right to give files away: in a container that has dropped all capabilities.
      return { at: 'rights', message: `${errorCode(error)} at chown` };
    }
    const script = '"$1" -V && echo PROGRAM-RUNS && cd "$2" && : > probe && echo FOLDER-WORKS';
    const command = [...plan.prefix, '/bin/sh', '-c', script, 'sh', postgres, folder];
    const { code, output } = await run(command, { env, ...plan.identity });
    // The version is printed even when the program cannot check its own file, which later keeps it from starting.
    const programRuns = output.includes('PROGRAM-RUNS') && !output.includes('invalid binary');
    if (programRuns && output.includes('FOLDER-WORKS')) return undefined;
    const line = output.split('\n').find((text) => /denied|invalid|not permitted|cannot|error/i.test(text));
    // The shell itself did not start: it is not a file that is out of reach.
    const at = programRuns ? 'folder' : code === 'EPERM' || code === 'EINVAL' ? 'rights' : 'program';
    return { at, message: line?.trim() ?? `${plan.prefix[0] ?? 'sh'} ended with ${code}` };
  } finally {
    removeQuietly(folder);
  }
}

function removeQuietly(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // A root that may not enter other users' folders; it is tried again when data are created.
  }
}

/** Gives a file to its owner-to-be where that is allowed; where not, it remains root's, which only a later user minds. */
export function giveIfAllowed(path: string, owner: Account | undefined): void {
  try {
    if (owner) chownSync(path, owner.uid, owner.gid);
  } catch (error) {
    if (!['EPERM', 'EINVAL'].includes(errorCode(error) ?? '')) throw error;
  }
}

/** Hands one file or folder to the user that the plan runs as. */
export function giveTo(plan: LaunchPlan, path: string): void {
  if (plan.owner) chownSync(path, plan.owner.uid, plan.owner.gid);
}

/**
 * Makes an existing data folder fit for the plan: a folder that root has copied or restored belongs to root, and one
 * that went through an archive may have lost the mode that PostgreSQL insists on.
 */
export function adaptDataFolder(plan: LaunchPlan, dataFolder: string): void {
  const found = statSync(dataFolder);
  if (plan.owner && (found.uid !== plan.owner.uid || hasForeignFile(dataFolder, plan.owner.uid))) {
    chownTree(dataFolder, plan.owner);
  }
  // Group may read, nobody else anything: what PostgreSQL accepts.
  if ((found.mode & 0o027) !== 0) chmodSync(dataFolder, 0o700);
}

/** Root has edited a setting: many editors leave a new file of root's behind, which the server could not read. */
function hasForeignFile(dataFolder: string, uid: number): boolean {
  return readdirSync(dataFolder).some((name) => lstatSync(join(dataFolder, name)).uid !== uid);
}

/** The top folder comes last, so that an interrupted change is seen and done again. */
function chownTree(path: string, owner: Account): void {
  if (lstatSync(path).isDirectory()) {
    for (const name of readdirSync(path)) chownTree(join(path, name), owner);
  }
  lchownSync(path, owner.uid, owner.gid);
}
