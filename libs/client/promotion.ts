import type { Command } from 'commander';
import { count } from '../text/index.js';
import { EXIT, type ExitCode } from './errors.js';
import { connect, type Io, type ServiceFlags } from './io.js';
import { addOptions, SERVICE_OPTIONS } from './options.js';
import { plain } from './text.js';

/** Adds `vat promote`. @param conclude receives the exit code */
export function addPromoteCommand(program: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const command = program
    .command('promote')
    .description('make a test of a call on which a check or criterion was not met, and print its id')
    .argument('<call>', 'identifier of the call')
    .action(async (id: string, flags: ServiceFlags) => conclude(await promote(id, flags, io)));
  addOptions(command, SERVICE_OPTIONS);
}

/** Prints what was made of the call. @throws CommandError */
async function promote(callId: string, flags: ServiceFlags, io: Io): Promise<ExitCode> {
  const { id, name, key, script, checks, criteria, notFailing } = await (await connect(flags, io)).promote(callId);
  io.stdout.write(`${id}\n`);
  io.stderr.write(
    `"${plain(name, 240)}" with the key ${plain(key ?? '')}: ${count(script.length - 1, 'line')}, ${count(checks.length + criteria.length, 'requirement')}.\n` +
      'It is provisional: its calls do not count until it has failed in a run.\n',
  );
  const end = script.at(-1);
  if (end && 'unless' in end && end.unless === 'answered') {
    io.stderr.write('The call broke off: a run names the question to which the script has no line yet.\n');
  }
  for (const check of notFailing) io.stderr.write(`It does not fail on the call itself: ${plain(check, 240)}\n`);
  return EXIT.met;
}
