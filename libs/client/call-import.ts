import { openAsBlob } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { type FolderFlags, importFolder, readable } from './call-folder.js';
import { type FollowFlags, startAndFollow } from './commands.js';
import { type ExitCode, misuse } from './errors.js';
import type { Io } from './io.js';
import { addOptions, FOLLOW_OPTIONS, missingOption, SERVICE_OPTIONS } from './options.js';
import type { ImportedCallFields } from './service.js';
import { evaluationIds } from './suite-commands.js';

interface ImportCallFlags extends FollowFlags, FolderFlags {
  readonly channels?: NonNullable<ImportedCallFields['channels']>;
  readonly startedAt?: string;
  readonly transcript?: string;
  readonly externalId?: string;
  readonly toolCalls?: string;
  readonly endedReason?: string;
  readonly reported?: string;
  readonly origin?: NonNullable<ImportedCallFields['origin']>;
}

/** Adds `vat import-call`. @param conclude receives the exit code */
export function addImportCallCommand(program: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const command = program
    .command('import-call')
    .description(
      'import a call that was recorded elsewhere, or a folder of them, each in a run of its own, and follow it',
    )
    .argument(
      '<file>',
      'recording: WAV with two channels, from the answer to the end of the call; or a folder with manifest.json',
    )
    .requiredOption('--agent <id>', 'agent that was called')
    .option('--evaluation <id or key>', 'evaluation whose checks and criteria apply')
    .addOption(
      new Option('--channels <order>', 'who is in the left and in the right channel').choices([
        'caller-agent',
        'agent-caller',
      ]),
    )
    .option('--started-at <time>', 'when the call was answered, such as 2026-11-21T06:37:42Z')
    .option('--transcript <file>', 'what was said: a JSON list of speaker, text, startMs and endMs')
    .option('--tool-calls <file>', 'tool calls of the agent: a JSON list of name, arguments, result and startMs')
    .option('--ended-reason <reason>', 'why the call ended: caller, agent, or the reason of the platform')
    .option('--reported <file>', 'what the platform measured: a JSON object')
    .addOption(new Option('--origin <origin>', 'whose call it was').choices(['import', 'production']))
    .option('--external-id <id>', "the call's name where it was recorded; it is imported once")
    .option('--no-wait', 'print the id of the run and exit without following it')
    .action(async (file: string, flags: ImportCallFlags) => {
      const found = await readable(file, () => stat(file));
      if (!found.isDirectory()) return conclude(await importCall(file, flags, command, io));
      const single = [...command.options, ...FOLLOW_OPTIONS].find(
        (option) => !OF_FOLDER.has(option.attributeName()) && option.attributeName() in flags,
      );
      if (single)
        throw misuse(
          `${single.long} is for one call, and not for a folder`,
          'Put it into manifest.json, or leave it out.',
        );
      conclude(await importFolder(file, flags, io));
    });
  addOptions(command, FOLLOW_OPTIONS, SERVICE_OPTIONS);
}

const OF_FOLDER: ReadonlySet<string> = new Set(['agent', 'evaluation', 'wait', 'url']);

/** @throws CommandError */
async function importCall(file: string, flags: ImportCallFlags, command: Command, io: Io): Promise<ExitCode> {
  const { agent, evaluation, channels, startedAt, externalId, endedReason, origin } = flags;
  if (evaluation === undefined) return missingOption(command, '--evaluation <id or key>');
  if (channels === undefined) return missingOption(command, '--channels <order>');
  if (startedAt === undefined) return missingOption(command, '--started-at <time>');
  const recording = await readable(file, () => openAsBlob(file));
  const fields: Omit<ImportedCallFields, 'evaluationId'> = {
    ...{ channels, startedAt },
    ...(externalId !== undefined && { externalId }),
    ...(endedReason !== undefined && { endedReason }),
    ...(origin !== undefined && { origin }),
  };
  const parts: Record<string, string> = {};
  for (const name of ['transcript', 'toolCalls', 'reported'] as const) {
    const part = flags[name];
    if (part !== undefined) parts[name] = await readable(part, () => readFile(part, 'utf8'));
  }
  return startAndFollow(
    async (service) => {
      const [evaluationId] = await evaluationIds(service, agent, [evaluation]);
      const named = { file: recording, name: path.basename(file) };
      const { runId } = await service.importCall(agent, named, { ...fields, ...parts, evaluationId: evaluationId! });
      return service.run(runId);
    },
    flags,
    io,
  );
}
