import { type Command, Option } from 'commander';
import type { ExitCode } from './errors.js';
import type { Io, ServiceFlags } from './io.js';
import { addOptions, SERVICE_OPTIONS } from './options.js';
import type { SuiteFormat } from './service.js';
import * as suites from './suite-commands.js';

interface AgentFlags extends ServiceFlags {
  readonly agent: string;
}

/** Adds the commands for agents and suites. @param conclude receives the exit code */
export function addSuiteCommands(program: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const agents = program
    .command('agents')
    .description('list the agents of the workspace')
    .addOption(suites.DELETED)
    .action(async (flags: ServiceFlags & { deleted?: boolean }) => conclude(await suites.agents(flags, io)));
  addOptions(agents, SERVICE_OPTIONS);

  const evaluations = program
    .command('evaluations')
    .description('list the evaluations of an agent')
    .requiredOption('--agent <id>', 'agent whose evaluations are listed')
    .action(async ({ agent, ...flags }: AgentFlags) => conclude(await suites.evaluations(agent, flags, io)));
  addOptions(evaluations, SERVICE_OPTIONS);

  const importing = program
    .command('import')
    .description('create and update evaluations and personalities from a file, all or none')
    .argument('<file>', 'suite: .yaml, .yml, .json or .csv')
    .requiredOption('--agent <id>', 'agent that is tested by the suite')
    .option('--dry-run', 'print what would change without importing')
    .action(async (file: string, { agent, ...flags }: AgentFlags & { dryRun?: boolean }) => {
      conclude(await suites.importSuite(file, agent, flags, io));
    });
  addOptions(importing, SERVICE_OPTIONS);

  const exporting = program
    .command('export')
    .description('print the evaluations of an agent as a file that can be imported')
    .requiredOption('--agent <id>', 'agent whose evaluations are exported')
    .addOption(
      new Option('--format <format>', 'default: the extension of --out, otherwise yaml').choices(suites.FORMATS),
    )
    .option('--out <file>', 'write to this file instead of standard output')
    .action(async ({ agent, ...flags }: AgentFlags & { format?: SuiteFormat; out?: string }) => {
      conclude(await suites.exportSuite(agent, flags, io));
    });
  addOptions(exporting, SERVICE_OPTIONS);
}
