import { Argument, type Command, Option } from 'commander';
import { DELETABLE, type Deletable } from './deletable.js';
import { CommandError, EXIT, type ExitCode, RefusedError } from './errors.js';
import { connect, type Io, type ServiceFlags } from './io.js';
import { addOptions, SERVICE_OPTIONS } from './options.js';
import type { Service } from './service.js';
import { plain } from './text.js';

interface DeleteFlags extends ServiceFlags {
  readonly yes?: boolean;
  readonly permanently?: boolean;
}

/** Adds `vat delete` and `vat restore`. @param conclude receives the exit code */
export function addDeleteCommands(program: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const deleting = program
    .command('delete')
    .description('delete an agent, an evaluation, a personality or an ended run; requires --yes')
    .addArgument(new Argument('<kind>', 'what is deleted').choices(DELETABLE))
    .argument('<id>', 'its identifier')
    .option(
      '--permanently',
      'erase an agent, also a deleted one, with its evaluations, runs and recordings; needs an ADMIN key',
    )
    .addOption(new Option('--yes', 'delete it; without this option, only its name is printed'))
    .action(async (kind: Deletable, id: string, flags: DeleteFlags) => {
      if (flags.permanently && kind !== 'agent') {
        return deleting.error(`error: option '--permanently' is only for agents`);
      }
      conclude(await deleteOne(kind, id, flags, io));
    });
  addOptions(deleting, SERVICE_OPTIONS);

  const restoring = program
    .command('restore')
    .description('restore a deleted agent with its evaluations, runs and connection')
    .argument('<agent>', 'identifier of the agent, as in vat agents --deleted')
    .action(async (id: string, flags: ServiceFlags) => conclude(await restore(id, flags, io)));
  addOptions(restoring, SERVICE_OPTIONS);
}

/** Deletes a resource and prints its name. @throws CommandError, also without confirmation */
async function deleteOne(
  kind: Deletable,
  id: string,
  { yes, permanently, ...flags }: DeleteFlags,
  io: Io,
): Promise<ExitCode> {
  const service = await connect(flags, io);
  const found = permanently ? await nameOfAgent(service, id) : await service.nameOf(kind, id);
  const name = nameText(kind, found, id);
  if (!yes) {
    const how = permanently ? 'Add --yes to erase it. It cannot be restored.' : 'Add --yes to delete it.';
    throw new CommandError(EXIT.misused, `Not deleted: ${name}`, [], how);
  }
  if (permanently) await service.eraseAgent(id);
  else await service.delete(kind, id);
  io.stdout.write(`${permanently ? 'Erased' : 'Deleted'} ${name}\n`);
  if (kind === 'agent' && !permanently) io.stderr.write(`To restore it: vat restore ${plain(id)}\n`);
  return EXIT.met;
}

/** Undoes the deletion of an agent and prints its name. @throws CommandError */
async function restore(id: string, flags: ServiceFlags, io: Io): Promise<ExitCode> {
  const { name } = await (await connect(flags, io)).restoreAgent(id);
  io.stdout.write(`Restored ${nameText('agent', name, id)}\n`);
  return EXIT.met;
}

/** Display name of an agent, also of a deleted one. @throws CommandError if there is none */
async function nameOfAgent(service: Service, id: string): Promise<string | null> {
  try {
    return await service.nameOf('agent', id);
  } catch (error) {
    if (!(error instanceof RefusedError) || error.status !== 404) throw error;
    const deleted = (await service.agents({ deleted: true })).find((agent) => agent.id === id.toLowerCase());
    if (!deleted) throw error;
    return deleted.name;
  }
}

const nameText = (kind: Deletable, name: string | null, id: string): string =>
  `${kind} "${plain(name ?? '–', 120)}" (${plain(id)})`;
