import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Option } from 'commander';
import { count } from '../text/index.js';
import { CommandError, EXIT, type ExitCode, misuse, RefusedError } from './errors.js';
import { connect, type Io, lookOf, type ServiceFlags } from './io.js';
import { prepareFile, saveFile } from './outputs.js';
import type { ImportOptions, ImportResult, Service, SuiteFormat, SuitePlan } from './service.js';
import { textTable } from './table.js';
import { plain } from './text.js';

/** Of the commands that list agents. */
export const DELETED = new Option('--deleted', 'list deleted agents, which vat restore restores; needs an EDITOR key');

export const FORMATS: readonly SuiteFormat[] = ['json', 'yaml', 'csv'];

const FORMAT_OF: Readonly<Record<string, SuiteFormat>> = {
  '.json': 'json',
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.csv': 'csv',
};

/** Prints the agents of the workspace, or its deleted ones. @throws CommandError */
export async function agents(
  { deleted = false, ...flags }: ServiceFlags & { deleted?: boolean },
  io: Io,
): Promise<ExitCode> {
  const found = await (await connect(flags, io)).agents({ deleted });
  const rows = found.map(({ id, name, provider, language }) => [
    id,
    plain(name ?? '–', 120),
    provider,
    plain(language ?? '–'),
  ]);
  const columns = [{ title: 'ID' }, { title: 'Name', width: 48 }, { title: 'Provider' }, { title: 'Language' }];
  print(
    io,
    rows.length > 0 ? textTable(columns, rows, lookOf(io)) : `The workspace has no ${deleted ? 'deleted ' : ''}agents.`,
  );
  return EXIT.met;
}

/** Prints the evaluations of an agent. @throws CommandError */
export async function evaluations(agentId: string, flags: ServiceFlags, io: Io): Promise<ExitCode> {
  const found = await (await connect(flags, io)).evaluations(agentId);
  const rows = found.map(({ id, key, name, tags, critical }) => [
    id,
    plain(key ?? '–', 255),
    plain(name, 120),
    critical ? 'critical' : '–',
    plain(tags.join(', ') || '–', 1_000),
  ]);
  // Keys and tags are copied into options, so they are never shortened.
  const columns = [
    { title: 'ID' },
    { title: 'Key' },
    { title: 'Name', width: 48 },
    { title: 'Gate' },
    { title: 'Tags', width: Infinity },
  ];
  print(io, rows.length > 0 ? textTable(columns, rows, lookOf(io)) : 'The agent has no evaluations.');
  return EXIT.met;
}

/** Imports a suite and prints what was done with each item. @throws CommandError that names every fault of the file */
export async function importSuite(
  file: string,
  agentId: string,
  { dryRun, ...flags }: ServiceFlags & { dryRun?: boolean },
  io: Io,
): Promise<ExitCode> {
  const suite = await readSuite(file);
  const result = await sendSuite(await connect(flags, io), agentId, suite, { dryRun: dryRun ?? false });
  print(io, importText(result));
  return EXIT.met;
}

/** Prints or saves the evaluations of an agent as a file. @throws CommandError */
export async function exportSuite(
  agentId: string,
  { format, out, ...flags }: ServiceFlags & { format?: SuiteFormat; out?: string },
  io: Io,
): Promise<ExitCode> {
  const chosen = format ?? (out === undefined ? 'yaml' : formatOf(out));
  const service = await connect(flags, io);
  if (out !== undefined) await prepareFile(out);
  const text = await service.exportSuite(agentId, chosen);
  if (out === undefined) {
    // Redirected, it is a file that can be imported, so it must keep every character.
    if (io.stdout.isTTY) io.stdout.write(text);
    else io.writeFile(text);
    return EXIT.met;
  }
  await saveFile(out, text, io);
  return EXIT.met;
}

export interface SuiteFile {
  readonly file: string;
  readonly bytes: Uint8Array;
  readonly format: SuiteFormat;
}

/** @throws CommandError if the extension is unknown or the file cannot be read */
export async function readSuite(file: string): Promise<SuiteFile> {
  const format = formatOf(file);
  try {
    return { file, format, bytes: await readFile(file) };
  } catch (error) {
    throw misuse(`${file} cannot be read: ${(error as Error).message}`, 'Check the path of the suite.');
  }
}

/** @throws CommandError that names every fault of the file */
export async function sendSuite(
  service: Service,
  agentId: string,
  { file, bytes, format }: SuiteFile,
  options: ImportOptions = {},
): Promise<ImportResult> {
  try {
    return await service.importSuite(agentId, bytes, format, options);
  } catch (error) {
    if (!(error instanceof RefusedError) || ![400, 422].includes(error.status)) throw error;
    const message = `${file} was not imported: ${error.reason}`;
    throw new CommandError(error.exitCode, message, error.details, 'Correct the file; nothing was imported.', {
      cause: error,
    });
  }
}

/** Ids of evaluations, given by id or by key. @throws CommandError that names every unknown key */
export async function evaluationIds(service: Service, agentId: string, given: readonly string[]): Promise<string[]> {
  if (given.every((value) => UUID.test(value))) return [...new Set(given)];
  const known = await service.evaluations(agentId);
  const idOf = new Map(
    known.flatMap(({ id, key }) => [[id, id] as const, ...(key === null ? [] : [[key, id] as const])]),
  );
  const unknown = given.filter((value) => !idOf.has(value) && !UUID.test(value));
  if (unknown.length > 0) {
    const details = unknown.map((value) => `--evaluation: no evaluation has the key "${value}"`);
    const cure = `List the keys: vat evaluations --agent ${plain(agentId)}`;
    throw new CommandError(EXIT.misused, `Agent ${agentId} does not have every selected evaluation`, details, cure);
  }
  return [...new Set(given.map((value) => idOf.get(value) ?? value))];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function formatOf(file: string): SuiteFormat {
  const format = FORMAT_OF[path.extname(file).toLowerCase()];
  if (format !== undefined) return format;
  throw misuse(`The format of ${file} is unknown`, 'Use a name that ends with .yaml, .yml, .json or .csv.');
}

/** What an import did, or would do, with each item of the file, and what a run could not take of it. */
function importText(result: ImportResult): string {
  const { dryRun, plan } = result;
  return [
    changesText(result),
    ...misfitLines(plan?.misfits ?? []).map((line) => `A run would be refused: ${line}`),
    ...cureLines(plan?.misfits ?? []).map((line) => `Note: ${line}`),
    ...(plan?.warnings ?? []).map((warning) => `Note: ${plain(warning)}`),
    ...(dryRun ? ['Dry run: nothing was imported.'] : []),
  ].join('\n');
}

/** What an import did, or would do, with each item of the file. */
export function changesText({ items, personalities, ...evaluations }: ImportResult): string {
  const lines = [
    ...personalities.items.map(personalityText),
    ...items.map(({ action, key }) => `${action.padEnd(9)}  ${plain(key, 255)}`),
  ];
  return [
    ...lines,
    ...(lines.length > 0 ? [''] : []),
    `Evaluations: ${countsText(evaluations)}. Personalities: ${countsText(personalities)}.`,
  ].join('\n');
}

type ImportedPersonality = ImportResult['personalities']['items'][number];

/** What an import does with a personality, and whose callers it changes besides. */
function personalityText({ action, name, otherAgents, otherAgentCount }: ImportedPersonality): string {
  const others = otherAgents.map((agent) => `"${plain(agent.name ?? agent.id, 120)}"`).join(', ');
  const also = otherAgentCount > 0 ? `, also used by ${count(otherAgentCount, 'other agent')}: ${others}` : '';
  return `${action.padEnd(9)}  personality "${plain(name, 120)}"${also}`;
}

/** The personalities that an import changes for other agents, too: one per line. */
export const sharedChanges = ({ personalities }: ImportResult): string[] =>
  personalities.items.filter(({ otherAgentCount }) => otherAgentCount > 0).map(personalityText);

/** Keys named in one line; the rest is only counted. */
const MAX_KEYS = 10;

/** One line per reason, with the keys of the evaluations that it applies to. */
export function misfitLines(misfits: SuitePlan['misfits']): string[] {
  const keysOf = new Map<string, string[]>();
  for (const { key, reason } of misfits) keysOf.set(reason, [...(keysOf.get(reason) ?? []), key]);
  return [...keysOf].map(([reason, keys]) => {
    const more = keys.length - MAX_KEYS;
    const named = keys.slice(0, MAX_KEYS).map((key) => plain(key, 255));
    return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}: ${plain(reason)}`;
  });
}

/** What would provide what evaluations need: each line once. */
export const cureLines = (misfits: SuitePlan['misfits']): string[] => [
  ...new Set(misfits.flatMap(({ cures = [] }) => cures.map((cure) => plain(cure)))),
];

/** One line for an import that precedes a run. */
export const importSummary = ({ personalities, ...evaluations }: ImportResult): string =>
  `Imported evaluations: ${countsText(evaluations)}; personalities: ${countsText(personalities)}.`;

const countsText = ({ created, updated, unchanged }: Pick<ImportResult, 'created' | 'updated' | 'unchanged'>): string =>
  `${created} created, ${updated} updated, ${unchanged} unchanged`;

const print = ({ stdout }: Io, text: string) => stdout.write(`${text}\n`);
