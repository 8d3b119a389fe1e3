import { openAsBlob } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { count } from '../text/index.js';
import { CommandError, EXIT, type ExitCode, misuse, RefusedError } from './errors.js';
import { hasEnded } from './follow.js';
import { connect, type Io, type ServiceFlags } from './io.js';
import type { ImportedCallFields, Service } from './service.js';
import { evaluationIds } from './suite-commands.js';
import { exitCodeOf } from './summary.js';
import { plain } from './text.js';

/** File of a folder with calls. */
const MANIFEST = 'manifest.json';
/** Seconds that one request waits for the end of a run. */
const WAIT = 60;

export interface FolderFlags extends ServiceFlags {
  readonly agent: string;
  /** Evaluation of the calls that name none: an id or key. */
  readonly evaluation?: string;
  readonly wait: boolean;
}

/** A call of the manifest; `recording`, and `transcript`, `toolCalls` and `reported` if they are texts, are files of the folder. */
type ListedCall = Readonly<Record<string, unknown>>;

const JSON_FIELDS = ['transcript', 'toolCalls', 'reported'] as const;
const TEXT_FIELDS = ['channels', 'startedAt', 'externalId', 'endedReason', 'origin'] as const;
const KNOWN: ReadonlySet<string> = new Set([...JSON_FIELDS, ...TEXT_FIELDS, 'evaluation', 'recording']);

/** Refusals that are about one call. */
const OF_CALL: ReadonlySet<number> = new Set([400, 409, 413]);

/**
 * Imports the calls of a folder in the order of its manifest, each in a run of its own. A call that is refused stops no other one.
 * @returns 1 if a run ended so, else 3 if a call was refused, else 2 if a run ended so
 * @throws CommandError; then the calls before it were imported, and are known when the command is repeated
 */
export async function importFolder(folder: string, flags: FolderFlags, io: Io): Promise<ExitCode> {
  const calls = await manifestOf(folder);
  const service = await connect(flags, io);
  const ids = new Map<string, string>();
  for (const key of new Set(calls.map((call, index) => evaluationOf(call, index, flags)))) {
    ids.set(key, (await evaluationIds(service, flags.agent, [key]))[0]!);
  }
  const codes: ExitCode[] = [];
  let refused = 0;
  for (const [index, call] of calls.entries()) {
    const evaluationId = ids.get(evaluationOf(call, index, flags))!;
    const name = plain(typeof call['externalId'] === 'string' ? call['externalId'] : `Call ${index + 1}`, 120);
    try {
      const { recording, fields } = await readCall(folder, call, index);
      const given = { ...(fields as unknown as ImportedCallFields), evaluationId };
      const { runId } = await service.importCall(flags.agent, recording, given);
      if (flags.wait) codes.push(await ended(service, runId, name, io));
      else io.stdout.write(`${runId}\n`);
    } catch (error) {
      const isOfCall = error instanceof RefusedError ? OF_CALL.has(error.status) : isMisuse(error);
      if (!isOfCall) throw error;
      const { message, details } = error as CommandError;
      io.stderr.write(`${name}: not imported. ${plain([message, ...details].join('; '), 1_000)}\n`);
      refused++;
    }
  }
  io.stderr.write(`${count(calls.length - refused, 'call')} imported${refused > 0 ? `, ${refused} refused` : ''}\n`);
  if (codes.includes(EXIT.notMet)) return EXIT.notMet;
  return refused > 0 ? EXIT.misused : (codes.find((code) => code !== EXIT.met) ?? EXIT.met);
}

const isMisuse = (error: unknown): boolean => error instanceof CommandError && error.exitCode === EXIT.misused;

async function ended(service: Service, runId: string, name: string, io: Io): Promise<ExitCode> {
  let run = await service.run(runId, WAIT);
  while (!hasEnded(run)) run = await service.run(runId, WAIT);
  const [call] = await service.calls(runId);
  io.stdout.write(`${name}: ${call?.outcome ?? run.status} (run ${runId}). ${plain(call?.reason ?? '', 400)}\n`);
  return exitCodeOf(run);
}

async function manifestOf(folder: string): Promise<ListedCall[]> {
  const file = path.join(folder, MANIFEST);
  const text = await contentOf(file);
  let calls: unknown;
  try {
    calls = JSON.parse(text);
  } catch {
    throw misuse(`${plain(file)} is not valid JSON`, `Write a JSON list with an object for each call.`);
  }
  const isList =
    Array.isArray(calls) && calls.length > 0 && calls.every((one) => typeof one === 'object' && one !== null);
  if (!isList) throw misuse(`${plain(file)} has no calls`, 'Write a JSON list with an object for each call.');
  return calls as ListedCall[];
}

function evaluationOf({ evaluation }: ListedCall, index: number, flags: FolderFlags): string {
  if (typeof evaluation === 'string') return evaluation;
  if (flags.evaluation !== undefined) return flags.evaluation;
  throw misuse(`Call ${index + 1} names no evaluation`, 'Give it "evaluation", or the command --evaluation.');
}

async function readCall(folder: string, call: ListedCall, index: number) {
  const unknown = Object.keys(call).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) {
    throw misuse(`Call ${index + 1} has the unknown field ${plain(unknown)}`, `Known are ${[...KNOWN].join(', ')}.`);
  }
  const fields: Record<string, string> = {};
  for (const name of TEXT_FIELDS) {
    const given = call[name] ?? undefined;
    if (given === undefined) continue;
    if (typeof given !== 'string') throw misuse(`"${name}" of call ${index + 1} is not a text`, 'Put it into quotes.');
    fields[name] = given;
  }
  for (const name of JSON_FIELDS) {
    const given = call[name] ?? undefined;
    if (given === undefined) continue;
    fields[name] = typeof given === 'string' ? await contentOf(path.join(folder, given)) : JSON.stringify(given);
  }
  const named = call['recording'] ?? undefined;
  if (named === undefined) return { recording: undefined, fields };
  if (typeof named !== 'string')
    throw misuse(`"recording" of call ${index + 1} is not a text`, 'Name a file of the folder.');
  const file = path.join(folder, named);
  return { recording: { file: await readable(file, () => openAsBlob(file)), name: path.basename(file) }, fields };
}

/** Without the mark with which some editors begin a file. */
const contentOf = async (file: string): Promise<string> =>
  (await readable(file, () => readFile(file, 'utf8'))).replace(/^\uFEFF/, '');

/** @throws CommandError for a file that cannot be read */
export async function readable<T>(file: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch {
    throw misuse(`${plain(file)} cannot be read`, 'Check its path and that you may read it.');
  }
}
