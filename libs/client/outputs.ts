import { constants } from 'node:fs';
import { access, appendFile, mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CommandError, EXIT, misuse } from './errors.js';
import type { Io } from './io.js';
import { resultMarkdown } from './markdown.js';
import type { Service } from './service.js';
import type { Summary } from './summary.js';
import { plain } from './text.js';

/** Files to write, each by its path. */
export interface OutputFlags {
  readonly junit?: string;
  readonly json?: string;
  readonly markdown?: string;
  readonly report?: string;
}

/** Creates the folders, so that unwritable files are reported before a run, which takes minutes. @throws CommandError */
export async function prepareOutputs(files: OutputFlags): Promise<void> {
  for (const file of [files.junit, files.json, files.markdown, files.report]) {
    if (file !== undefined) await prepareFile(file);
  }
}

/** @throws CommandError */
export async function prepareFile(file: string): Promise<void> {
  const folder = path.dirname(path.resolve(file));
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK);
  } catch (error) {
    throw misuse(`${file} cannot be written: ${(error as Error).message}`, 'Choose another path.');
  }
  if ((await statOf(file))?.isDirectory()) throw misuse(`${file} is a folder`, 'Name a file in it.');
}

/** Writes a prepared file for `--out`, and says so. @throws CommandError */
export async function saveFile(file: string, text: string, { stderr }: Io): Promise<void> {
  try {
    await writeAtomically(file, text);
  } catch (error) {
    const message = `${file} cannot be written: ${(error as Error).message}`;
    throw new CommandError(EXIT.noResult, message, [], 'Choose another path with --out.');
  }
  stderr.write(`Written to ${plain(file)}\n`);
}

/** `mkdir` with `recursive` never returns on file systems that do not allow folders, such as /proc. */
async function makeFolder(folder: string): Promise<void> {
  if ((await statOf(folder))?.isDirectory()) return;
  const parent = path.dirname(folder);
  if (parent !== folder) await makeFolder(parent);
  await mkdir(folder).catch(async (error: unknown) => {
    // Another process may have created it in the meantime.
    if (!(await statOf(folder))?.isDirectory()) throw error;
  });
}

/** What the requested files contain; made when they are written. */
export type OutputContents = Readonly<Record<keyof OutputFlags, () => string | Promise<string>>>;

/**
 * The results of a run.
 * @param baseline the run that the report compares with, as for `Service.report`
 */
export const resultContents = (service: Service, summary: Summary, baseline?: string): OutputContents => ({
  json: () => jsonText(summary),
  markdown: () => resultMarkdown(summary),
  junit: () => service.junit(summary.run.id),
  report: () => service.report(summary.run.id, baseline),
});

/**
 * Writes the requested files; a failure does not prevent the others.
 * @param again the command that writes them, too
 * @returns the names of the files
 * @throws CommandError that names all failed files
 */
export async function writeOutputs(
  contents: Partial<OutputContents>,
  files: OutputFlags,
  env: NodeJS.ProcessEnv,
  again: string,
): Promise<string[]> {
  const written: string[] = [];
  const failures: string[] = [];
  for (const kind of ['json', 'markdown', 'junit', 'report'] as const) {
    const [file, content] = [files[kind], contents[kind]];
    if (file === undefined || content === undefined) continue;
    try {
      const text = await content();
      // All commands of a step append to the same summary.
      if (file === env['GITHUB_STEP_SUMMARY']) await appendFile(file, text);
      else await writeAtomically(file, text);
      written.push(file);
    } catch (error) {
      failures.push(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (failures.length > 0) {
    const cure = `Write them again with the same options: ${again}`;
    throw new CommandError(EXIT.noResult, 'Not all files could be written', failures, cure);
  }
  return written;
}

/** Output of `--json`, safe for terminals and the logs of CI. */
export const jsonText = (value: object): string =>
  `${JSON.stringify(value, null, 2).replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;

/**
 * Characters that JSON does not escape, but terminals interpret: control characters and bidirectional overrides. And the
 * first one of a command of Azure Pipelines (`##[`, `##vso[`) or TeamCity (`##teamcity[`).
 */
const OBEYED = /[\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069\uFFF9-\uFFFB]|#(?=#(?:vso|teamcity)?\[)/gi;

/** Writes a temporary file and renames it, so that no partial file remains if the process is killed. */
export async function writeAtomically(file: string, text: string): Promise<void> {
  const target = await realpath(file).catch(() => path.resolve(file));
  const existing = await statOf(target);
  // A device or a pipe cannot be replaced.
  if (existing && !existing.isFile()) return writeFile(target, text);
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, text);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

const statOf = (file: string) => stat(file).catch(() => undefined);
