import { chmodSync, chownSync, cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chooseAccount, describeUser, isRoot } from './account.js';
import { locateBinaries, type Binaries } from './binaries.js';
import { openEmbeddedPostgres } from './index.js';
import { processStart } from './process.js';
import { cleanUp, FAST, newFolder, query, skipped, startOpener } from './testing/processes.js';

afterEach(cleanUp);

const NOBODY = { uid: 65_534, gid: 65_534 };
/** An ordinary account that every Unix has and that is no stand-in. */
const DAEMON = { uid: 1, gid: 1 };

/** Whether an ordinary user could run this very project: the tests that need one as a second process. */
function isProjectInReach(): boolean {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

function chownAll(path: string, uid: number, gid: number): void {
  chownSync(path, uid, gid);
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) chownAll(join(path, name), uid, gid);
}

/** The installed package, as in a project that was cloned into this folder. */
function copyPackage(folder: string): Binaries {
  const { root: original, major } = locateBinaries();
  const root = join(folder, 'node_modules/package');
  cpSync(original, root, { recursive: true, verbatimSymlinks: true });
  return { root, major, initdb: join(root, 'native/bin/initdb'), postgres: join(root, 'native/bin/postgres') };
}

function uidOf(pid: number): number {
  return Number(/^Uid:\s+\d+\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

/** Opens, writes, closes, opens, reads. */
async function proveWorking(directory: string, binaries?: Binaries): Promise<string> {
  const messages: string[] = [];
  const options = { directory, parameters: FAST, log: (line: string) => messages.push(line) };
  const first = await openEmbeddedPostgres(options, binaries);
  if (!messages.join().includes('user namespace')) expect(uidOf(first.pid)).not.toBe(0);
  await query(first.url('postgres'), 'create table if not exists t (n int); insert into t values (42); checkpoint');
  await first.close();
  const second = await openEmbeddedPostgres(options, binaries);
  expect(await query(second.url('postgres'), 'select distinct n from t')).toEqual([{ n: 42 }]);
  await second.close();
  expect(readdirSync(directory).filter((name) => /^(probe|init)-/.test(name))).toEqual([]);
  return messages.join('\n');
}

describe('an ordinary user', () => {
  it('is described by name', () => {
    expect(describeUser(0)).toBe('root (uid 0)');
    expect(describeUser(4_000_000)).toBe('uid 4000000');
  });
});

const canLend = isRoot() && process.platform === 'linux';
if (!canLend) skipped('account.spec.ts needs root on Linux to lend an ordinary user to the server');

(canLend ? describe : describe.skip)('root, whom PostgreSQL refuses,', () => {
  it('lends a stand-in, who cannot read the password', async () => {
    const directory = join(newFolder(), 'postgres');
    expect(chooseAccount(directory, join(directory, 'data')).ownsAll).toBe(false);
    const said = await proveWorking(directory);
    expect(said).toMatch(/started \(as (postgres|nobody) \(uid \d+\)/);
    expect(statSync(join(directory, 'password'))).toMatchObject({ uid: 0, mode: 0o100600 });
    expect(statSync(join(directory, 'data')).uid).not.toBe(0);
  });

  it('reaches a project and data in a folder that only root can enter', async () => {
    const folder = newFolder(0o700);
    const binaries = copyPackage(folder);
    const said = await proveWorking(join(folder, 'data/postgres'), binaries);
    expect(said).toMatch(/capability dac_read_search|capability dac_override|user namespace/);
    // The same data when the folder is opened up later: the trick is no longer needed.
    chmodSync(folder, 0o755);
    expect(await proveWorking(join(folder, 'data/postgres'), binaries)).toMatch(/\(as \w+ \(uid \d+\)\)/);
  });

  it('reaches data in such a folder with programs outside', async () => {
    const said = await proveWorking(join(newFolder(0o700), 'postgres'));
    expect(said).toMatch(/capability|user namespace/);
  });

  it('reaches programs that were installed under umask 077', async () => {
    const folder = newFolder();
    const binaries = copyPackage(folder);
    for (const entry of readdirSync(binaries.root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isSymbolicLink()) chmodSync(path, lstatSync(path).mode & 0o700);
    }
    const said = await proveWorking(join(folder, 'postgres'), binaries);
    expect(said).toMatch(/capability dac_override|user namespace/);
  });

  it('adopts data that it has restored as its own, with the wrong mode', async () => {
    const directory = join(newFolder(), 'postgres');
    await proveWorking(directory);
    chownAll(join(directory, 'data'), 0, 0);
    chmodSync(join(directory, 'data'), 0o755);
    await proveWorking(directory);
    expect(statSync(join(directory, 'data')).mode & 0o777).toBe(0o700);
  });

  it('works for the owner of the project, who can go on without root', async () => {
    const project = newFolder();
    chownSync(project, DAEMON.uid, DAEMON.gid);
    const directory = join(project, 'postgres');
    await proveWorking(directory);
    for (const name of ['', 'data', 'password', 'server.log']) {
      expect([name, statSync(join(directory, name)).uid]).toEqual([name, DAEMON.uid]);
    }
    if (!isProjectInReach()) return skipped('ordinary users cannot reach this project');
    const child = await startOpener(directory, DAEMON);
    child.go();
    expect(await child.next()).toMatchObject({ adopted: false });
    // And root joins the server of an ordinary user.
    const server = await openEmbeddedPostgres({ directory });
    expect(server.adopted).toBe(true);
    child.go();
    expect(await child.next()).toEqual({ closed: true });
    await server.close();
    expect(processStart(server.pid)).toBe('gone');
  });

  it('leaves data to a stranger only with a clear word', async () => {
    if (!isProjectInReach()) return skipped('ordinary users cannot reach this project');
    const directory = join(newFolder(), 'postgres');
    await proveWorking(directory);
    const child = await startOpener(directory, DAEMON);
    child.go();
    const { error } = await child.next();
    expect(error).toMatch(/belongs to root \(uid 0\).*runs as daemon \(uid 1\).*opened by another user before/);

    chownSync(directory, DAEMON.uid, DAEMON.gid);
    const second = await startOpener(directory, DAEMON);
    second.go();
    expect((await second.next()).error).toMatch(/data belongs to .*, but this program runs as daemon \(uid 1\)/);
  });

  it('is told the cure when no way leads there', async () => {
    const folder = newFolder(0o700);
    const binaries = copyPackage(folder);
    const path = process.env.PATH;
    process.env.PATH = '/nonexistent';
    try {
      await expect(openEmbeddedPostgres({ directory: join(folder, 'postgres') }, binaries)).rejects.toThrow(
        /cannot run .*postgres\. Move the project, .*as an ordinary user, or set DATABASE_URL.*Tried/,
      );
      const opening = openEmbeddedPostgres({ directory: join(folder, 'postgres') });
      if (isProjectInReach()) await expect(opening).rejects.toThrow(/cannot use the folder .*Set DATA_DIR/);
      else await expect(opening).rejects.toThrow(/Move the project/);
    } finally {
      process.env.PATH = path;
    }
  });

  it('chooses the owner of the data before all others', () => {
    const directory = newFolder();
    mkdirSync(join(directory, 'data'));
    chownSync(join(directory, 'data'), 4_000_000, 4_000_000);
    const foreign = chooseAccount(directory, join(directory, 'data'));
    expect(foreign).toEqual({ account: { uid: 4_000_000, gid: 4_000_000 }, ownsAll: true });
    chownSync(join(directory, 'data'), NOBODY.uid, NOBODY.gid);
    expect(chooseAccount(directory, join(directory, 'data'))).toEqual({ account: NOBODY, ownsAll: false });
  });
});
