import { openAsBlob } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { type FollowFlags, startAndFollow } from './commands.js';
import { type ExitCode, misuse } from './errors.js';
import type { Io } from './io.js';
import { addOptions, FOLLOW_OPTIONS, SERVICE_OPTIONS } from './options.js';
import type { ImportedCallFields } from './service.js';
import { evaluationIds } from './suite-commands.js';
import { plain } from './text.js';

interface ImportCallFlags extends FollowFlags {
  readonly agent: string;
  readonly evaluation: string;
  readonly channels: ImportedCallFields['channels'];
  readonly startedAt: string;
  readonly transcript?: string;
  readonly externalId?: string;
}

/** Adds `vat import-call`. @param conclude receives the exit code */
export function addImportCallCommand(program: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const command = program
    .command('import-call')
    .description('import a call that was recorded elsewhere, in a run of its own, and follow it')
    .argument('<file>', 'recording: WAV with two channels, from the answer to the end of the call')
    .requiredOption('--agent <id>', 'agent that was called')
    .requiredOption('--evaluation <id or key>', 'evaluation whose checks and criteria apply')
    .addOption(
      new Option('--channels <order>', 'who is in the left and in the right channel')
        .choices(['caller-agent', 'agent-caller'])
        .makeOptionMandatory(),
    )
    .requiredOption('--started-at <time>', 'when the call was answered, such as 2026-11-21T06:37:42Z')
    .option('--transcript <file>', 'what was said: a JSON list of speaker, text, startMs and endMs')
    .option('--external-id <id>', "the call's name where it was recorded; it is imported once")
    .option('--no-wait', 'print the id of the run and exit without following it')
    .action(async (file: string, flags: ImportCallFlags) => conclude(await importCall(file, flags, io)));
  addOptions(command, FOLLOW_OPTIONS, SERVICE_OPTIONS);
}

/** @throws CommandError */
async function importCall(file: string, flags: ImportCallFlags, io: Io): Promise<ExitCode> {
  const { agent, evaluation, channels, startedAt, transcript, externalId } = flags;
  const recording = await readable(file, () => openAsBlob(file));
  const said = transcript === undefined ? undefined : await readable(transcript, () => readFile(transcript, 'utf8'));
  return startAndFollow(
    async (service) => {
      const [evaluationId] = await evaluationIds(service, agent, [evaluation]);
      const fields = { channels, evaluationId: evaluationId!, startedAt };
      const { runId } = await service.importCall(
        agent,
        { file: recording, name: path.basename(file) },
        {
          ...fields,
          ...(said !== undefined && { transcript: said }),
          ...(externalId !== undefined && { externalId }),
        },
      );
      return service.run(runId);
    },
    flags,
    io,
  );
}

/** @throws CommandError for a file that cannot be read */
async function readable<T>(file: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch {
    throw misuse(`${plain(file)} cannot be read`, 'Check its path and that you may read it.');
  }
}
