import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chooseAccount, describeUser } from './account.js';
import { binariesIn, locateBinaries, type Binaries } from './binaries.js';
import { openEmbeddedPostgres } from './index.js';
import { cleanUp, FAST, newFolder, query, skipped, startOpener, untilGone } from './testing/processes.js';

afterEach(cleanUp);

const NOBODY = { uid: 65_534, gid: 65_534 };
/** An ordinary account that every Unix has and that is not chosen by default. */
const DAEMON = { uid: 1, gid: 1 };

/** Whether an ordinary user could run this project, as the tests with a second user need. */
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
  const root = join(folder, 'node_modules/package');
  cpSync(locateBinaries().root, root, { recursive: true, verbatimSymlinks: true });
  return binariesIn(root);
}

function uidOf(pid: number): number {
  return Number(/^Uid:\s+\d+\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

/** Opens, writes, closes, opens, reads. */
async function expectWorking(directory: string, binaries?: Binaries): Promise<string> {
  const messages: string[] = [];
  const options = { directory, parameters: FAST, log: (line: string) => messages.push(line) };
  const first = await openEmbeddedPostgres(options, binaries);
  expect(uidOf(first.pid)).not.toBe(0);
  await query(first.url('postgres'), 'create table if not exists t (n int); insert into t values (42); checkpoint');
  await first.close();
  const second = await openEmbeddedPostgres(options, binaries);
  expect(await query(second.url('postgres'), 'select distinct n from t')).toEqual([{ n: 42 }]);
  await second.close();
  expect(readdirSync(directory).filter((name) => name.startsWith('init-'))).toEqual([]);
  return messages.join('\n');
}

describe('describeUser', () => {
  it('returns the name and the id', () => {
    expect(describeUser(0)).toBe('root (uid 0)');
    expect(describeUser(4_000_000)).toBe('uid 4000000');
  });
});

const isLinuxRoot = process.geteuid?.() === 0 && process.platform === 'linux';
if (!isLinuxRoot) skipped('account.spec.ts needs root on Linux to run the server as another user');

(isLinuxRoot ? describe : describe.skip)('embedded PostgreSQL opened by root', () => {
  it('runs as an ordinary user who owns its folder', async () => {
    const directory = join(newFolder(), 'postgres');
    const log = await expectWorking(directory);
    expect(log).toMatch(/started process \d+ on 127\.0\.0\.1:\d+ as (postgres|nobody) \(uid \d+\)/);
    const { uid } = statSync(join(directory, 'data'));
    expect(uid).not.toBe(0);
    expect(statSync(directory)).toMatchObject({ uid, mode: 0o040700 });
    expect(statSync(join(directory, 'password'))).toMatchObject({ uid, mode: 0o100600 });
  });

  it('works in a folder that is private to root, and does not change its mode', async () => {
    const folder = newFolder(0o700);
    await expectWorking(join(folder, 'data/postgres'));
    expect(statSync(folder)).toMatchObject({ uid: 0, gid: 0, mode: 0o040700 });
  });

  it('works in a project that is private to root, such as one in /root', async () => {
    const folder = newFolder(0o700);
    await expectWorking(join(folder, 'data/postgres'), copyPackage(folder));
  });

  it('adopts data that root has restored, with the wrong mode', async () => {
    const directory = join(newFolder(), 'postgres');
    await expectWorking(directory);
    chownAll(directory, 0, 0);
    chmodSync(join(directory, 'data'), 0o755);
    await expectWorking(directory);
    expect(statSync(join(directory, 'data')).mode & 0o777).toBe(0o700);
  });

  it('runs as the owner of the project, who can continue without root', async () => {
    const project = newFolder();
    chownSync(project, DAEMON.uid, DAEMON.gid);
    const directory = join(project, 'postgres');
    await expectWorking(directory);
    for (const name of ['', 'data', 'password', 'server.log']) {
      expect([name, statSync(join(directory, name)).uid]).toEqual([name, DAEMON.uid]);
    }
    if (!isProjectInReach()) return skipped('ordinary users cannot reach this project');
    const child = await startOpener(directory, DAEMON);
    child.go();
    expect(await child.next()).toMatchObject({ adopted: false });
    const server = await openEmbeddedPostgres({ directory });
    expect(server.adopted).toBe(true);
    child.go();
    expect(await child.next()).toEqual({ closed: true });
    await server.close();
    await untilGone(server.pid);
  });

  it('rejects another ordinary user with the fix', async () => {
    if (!isProjectInReach()) return skipped('ordinary users cannot reach this project');
    const directory = join(newFolder(), 'postgres');
    await expectWorking(directory);
    for (const modes of [0o700, 0o755]) {
      chmodSync(directory, modes);
      const child = await startOpener(directory, DAEMON);
      child.go();
      expect((await child.next()).error).toMatch(/ermission denied.* Run as the owner of that folder, or set DATA_DIR/);
    }
  });

  it('reports a project that the ordinary user cannot reach', async () => {
    const folder = newFolder(0o700);
    const binaries = copyPackage(folder);
    // Without setpriv, as on macOS or in a minimal container.
    const path = process.env['PATH'];
    process.env['PATH'] = '/nowhere';
    try {
      await expect(openEmbeddedPostgres({ directory: join(newFolder(), 'postgres') }, binaries)).rejects.toThrow(
        /cannot run as root, and the ordinary user .* cannot use .*initdb\. Move the project.*as an ordinary user, or set DATABASE_URL/,
      );
    } finally {
      process.env['PATH'] = path;
    }
  });

  it('prefers the owner of the data to all other users', () => {
    const directory = newFolder();
    mkdirSync(join(directory, 'data'));
    for (const owner of [{ uid: 4_000_000, gid: 4_000_000 }, NOBODY]) {
      chownSync(join(directory, 'data'), owner.uid, owner.gid);
      expect(chooseAccount(directory)).toEqual(owner);
    }
  });
});
