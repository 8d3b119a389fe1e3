import { statSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** Where the compiled sources are. In `dist`, so that modules find the same packages and package.json as in a build. */
export const BUILD = path.join(ROOT, 'dist/tests');

/** Options of swc for all code that tests execute. swc does not check types; `npm run typecheck` does. */
export const SWC_OPTIONS = {
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
    target: 'es2023',
  },
};

const FOLDERS = ['src', 'libs', 'test'];

// Neither tests nor types, nor the packages of an agent that has a folder of its own.
const isSource = (file) => /(?<!\.spec|\.test|\.d)\.ts$/.test(file) && !/(^|\/)node_modules\//.test(file);

/** The compiled file of a file in TypeScript; undefined if it is a test or outside of the folders that are compiled. */
export function compiledFile(file) {
  const relative = path.relative(ROOT, file);
  if (!FOLDERS.some((folder) => relative.startsWith(`${folder}/`)) || !isSource(relative)) return undefined;
  return outputFile(file);
}

/**
 * Where the compiled form of a file in TypeScript is, or would be if it is a test.
 * @param file absolute, or relative to the project's root
 */
export const outputFile = (file) =>
  path.join(BUILD, path.relative(ROOT, path.resolve(ROOT, file)).replace(/\.ts$/, '.js'));

/**
 * Compiles the sources that have changed, for the processes and threads that tests start: they are ready in a fraction of
 * the time in which a loader compiles their imports one by one.
 */
export async function buildSources() {
  const folders = await Promise.all(
    FOLDERS.map(async (folder) => {
      const files = await readdir(path.join(ROOT, folder), { recursive: true });
      return files.map((file) => path.join(ROOT, folder, file));
    }),
  );
  const files = folders.flat();
  const sources = files.filter(isSource);
  const assets = files.filter((file) => /\.(wav|sql)$/.test(file));
  await Promise.all([...sources.map(compile), ...assets.map(copy)]);
}

async function compile(file) {
  const output = compiledFile(file);
  if (await isFresh(file, output)) return;
  const source = await readFile(file, 'utf8');
  const { code, map } = await transform(source, {
    ...SWC_OPTIONS,
    swcrc: false,
    module: { type: 'es6' },
    filename: file,
    sourceMaps: true,
  });
  await replace(`${output}.map`, (partial) => writeFile(partial, map));
  const comment = `\n//# sourceMappingURL=${path.basename(output)}.map\n`;
  await replace(output, (partial) => writeFile(partial, code + comment));
}

async function copy(file) {
  const output = path.join(BUILD, path.relative(ROOT, file));
  if (!(await isFresh(file, output))) await replace(output, (partial) => copyFile(file, partial));
}

const { mtimeMs: COMPILER_MTIME } = statSync(fileURLToPath(import.meta.url));

async function isFresh(file, output) {
  const [source, built] = await Promise.all([stat(file), stat(output).catch(() => undefined)]);
  return built !== undefined && built.mtimeMs > Math.max(source.mtimeMs, COMPILER_MTIME);
}

/** Renamed when it is complete, because another run may be executing the old one. */
async function replace(output, write) {
  const partial = `${output}.${process.pid}`;
  await mkdir(path.dirname(output), { recursive: true });
  await write(partial);
  await rename(partial, output);
}
