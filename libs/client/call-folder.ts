import { openAsBlob } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { count } from '../text/index.js';
import { EXIT, type ExitCode, misuse } from './errors.js';
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

/**
 * Imports the calls of a folder in the order of its manifest, each in a run of its own.
 * @returns 1 if a run ended so, else 2 if one did
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
  for (const [index, call] of calls.entries()) {
    const evaluationId = ids.get(evaluationOf(call, index, flags))!;
    const { recording, fields } = await readCall(folder, call, index);
    const { runId } = await service.importCall(flags.agent, recording, {
      ...(fields as unknown as ImportedCallFields),
      evaluationId,
    });
    const name = plain(fields['externalId'] ?? `Call ${index + 1}`, 120);
    if (flags.wait) codes.push(await ended(service, runId, name, io));
    else io.stdout.write(`${runId}\n`);
  }
  io.stderr.write(`${count(calls.length, 'call')} imported\n`);
  return codes.find((code) => code === EXIT.notMet) ?? codes.find((code) => code !== EXIT.met) ?? EXIT.met;
}

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
    const given = call[name];
    if (given === undefined) continue;
    if (typeof given !== 'string') throw misuse(`"${name}" of call ${index + 1} is not a text`, 'Put it into quotes.');
    fields[name] = given;
  }
  for (const name of JSON_FIELDS) {
    const given = call[name];
    if (given === undefined) continue;
    fields[name] = typeof given === 'string' ? await contentOf(path.join(folder, given)) : JSON.stringify(given);
  }
  const { recording: named } = call;
  if (typeof named !== 'string') return { recording: undefined, fields };
  const file = path.join(folder, named);
  return { recording: { file: await readable(file, () => openAsBlob(file)), name: path.basename(file) }, fields };
}

const contentOf = (file: string): Promise<string> => readable(file, () => readFile(file, 'utf8'));

/** @throws CommandError for a file that cannot be read */
export async function readable<T>(file: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch {
    throw misuse(`${plain(file)} cannot be read`, 'Check its path and that you may read it.');
  }
}
