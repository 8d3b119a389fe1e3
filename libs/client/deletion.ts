import { Argument, type Command, Option } from 'commander';
import { CommandError, EXIT, type ExitCode } from './errors.js';
import { connect, type Io, type ServiceFlags } from './io.js';
import { DELETABLE, type Deletable } from './service.js';
import { plain } from './text.js';

/**
 * Adds `vat delete`.
 * @param reaching adds the options that name the service
 * @param conclude receives the exit code
 */
export function addDeleteCommand(
  program: Command,
  reaching: (command: Command) => void,
  io: Io,
  conclude: (code: ExitCode) => void,
): void {
  const command = program
    .command('delete')
    .description('delete an agent, an evaluation, a personality or an ended run; requires --yes')
    .addArgument(new Argument('<kind>', 'what is deleted').choices(DELETABLE))
    .argument('<id>', 'its identifier')
    .addOption(new Option('--yes', 'delete it; without this option, only its name is printed'))
    .action(async (kind: Deletable, id: string, flags: ServiceFlags & { yes?: boolean }) => {
      conclude(await deleteOne(kind, id, flags, io));
    });
  reaching(command);
}

/** Deletes a resource and prints its name. @throws CommandError, also without confirmation */
async function deleteOne(
  kind: Deletable,
  id: string,
  { yes, ...flags }: ServiceFlags & { yes?: boolean },
  io: Io,
): Promise<ExitCode> {
  const service = await connect(flags, io);
  const name = `${kind} "${plain((await service.nameOf(kind, id)) ?? '–', 120)}" (${plain(id)})`;
  if (!yes) throw new CommandError(EXIT.misused, `Not deleted: ${name}`, [], 'Add --yes to delete it.');
  await service.delete(kind, id);
  io.stdout.write(`Deleted ${name}\n`);
  return EXIT.met;
}
