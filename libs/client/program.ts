import { Command, InvalidArgumentError, Option } from 'commander';
import * as commands from './commands.js';
import type { FollowFlags, Io, ServiceFlags } from './commands.js';
import { DEFAULT_URL } from './configuration.js';
import type { ExitCode } from './errors.js';
import type { StartRunRequest } from './service.js';

interface RunFlags extends FollowFlags {
  readonly agent?: string;
  readonly evaluation?: string[];
  readonly tag?: string[];
  readonly repeat?: number;
  readonly concurrency?: number;
  readonly minScore?: number;
  readonly name?: string;
  readonly dryRun?: boolean;
}

/** Of `Date` and timers: longer ones fire at once. */
const LONGEST_TIMEOUT = 2_000_000;

const FOOTER = `
Environment:
  VAT_URL            address of the service (default: ${DEFAULT_URL})
  VAT_API_KEY        API key of the workspace, of role EDITOR to start and cancel runs
  VAT_API_KEY_FILE   file that holds the key, instead

Exit codes:
  0  the gate is met
  1  the gate is not met
  2  the run could not be carried out: service or agent out of reach, cancelled, timed out
  3  wrong usage or configuration

docs/guides/ci.md says more.`;

/**
 * The command line.
 * @param conclude gets the exit code of the command that was carried out
 */
export function vatProgram(io: Io, conclude: (code: ExitCode) => void): Command {
  const program = new Command('vat')
    .description(
      'Tests a voice agent by simulated calls, for CI: carries out runs and tells whether their gate is met.',
    )
    .addHelpText('after', FOOTER)
    .showHelpAfterError('(--help explains the options)')
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) });

  const run = program
    .command('run')
    .description('start a run of an agent and follow it to its end')
    .option('--agent <id>', 'agent to call (required)')
    .option('--evaluation <id>', 'only this evaluation; may be repeated', collect)
    .addOption(
      new Option('--tag <tag>', 'only evaluations with this tag; may be repeated')
        .argParser(collect)
        .conflicts('evaluation'),
    )
    .option('--repeat <n>', 'calls of each evaluation: more than one shows which are flaky', wholeNumber)
    .option('--concurrency <n>', 'most calls of the agent at once', wholeNumber)
    .option('--min-score <score>', 'score that the run must reach, 0 to 100', score)
    .option('--name <name>', 'name of the run, for people')
    .option('--no-wait', 'do not follow the run: print its id and end')
    .option('--dry-run', 'print what would be carried out, and start nothing')
    .action(async (flags: RunFlags) => {
      const { agent, dryRun } = flags;
      // Not a required option: its absence would be told in place of a misspelt name.
      if (agent === undefined) return run.error("error: required option '--agent <id>' not specified");
      const request = requestOf(flags);
      conclude(dryRun ? await commands.plan(agent, request, flags, io) : await commands.run(agent, request, flags, io));
    });
  addOptions(run, FOLLOWING, REACHING);

  const rerun = program
    .command('rerun')
    .description('start the plan of an earlier run again and follow it')
    .argument('<run>', 'identifier of the earlier run')
    .addOption(new Option('--only <which>', 'only the evaluations of which a call did not pass').choices(['failed']))
    .option('--no-wait', 'do not follow the run: print its id and end')
    .action(async (id: string, { only, ...flags }: FollowFlags & { only?: 'failed' }) => {
      conclude(await commands.rerun(id, only, flags, io));
    });
  addOptions(rerun, FOLLOWING, REACHING);

  const status = program
    .command('status')
    .description('print what a run has come to; exit code 2 while it goes on')
    .argument('<run>', 'identifier of the run')
    .option('--wait', 'follow it to its end', false)
    .action(async (id: string, flags: FollowFlags) => conclude(await commands.status(id, flags, io)));
  addOptions(status, FOLLOWING, REACHING);

  for (const [kind, what] of [
    ['report', 'report as one HTML page'],
    ['junit', 'results as JUnit XML'],
  ] as const) {
    const save = program
      .command(kind)
      .description(`save a run's ${what}`)
      .argument('<run>', 'identifier of the run')
      .requiredOption('--out <file>', 'file to write')
      .action(async (id: string, flags: ServiceFlags & { out: string }) => {
        conclude(await commands.save(kind, id, flags, io));
      });
    addOptions(save, REACHING);
  }
  return program;
}

const REACHING = [new Option('--url <address>', 'address of the service, instead of VAT_URL')];

const FOLLOWING = [
  new Option('--timeout <seconds>', 'give up after so long, and cancel a run that the command has started').argParser(
    seconds,
  ),
  new Option('--junit <file>', 'write the results as JUnit XML'),
  new Option('--json <file>', 'write run, evaluations and calls as JSON'),
  new Option('--markdown <file>', 'write the table as Markdown; $GITHUB_STEP_SUMMARY is appended to'),
  new Option('--report <file>', 'write the report: one HTML page with transcripts and evidence'),
];

/** After a command's own options, so that its help begins with them. */
function addOptions(command: Command, ...groups: (readonly Option[])[]): void {
  for (const option of groups.flat()) command.addOption(option);
}

function requestOf(flags: RunFlags): StartRunRequest {
  const { evaluation, tag, repeat, concurrency, minScore, name } = flags;
  // The service fills in what is left out, so that there is one place for defaults.
  return {
    ...(name !== undefined && { name }),
    ...(evaluation && { evaluationIds: evaluation }),
    ...(tag && { tags: tag }),
    ...(repeat !== undefined && { repeat }),
    ...(concurrency !== undefined && { concurrency }),
    ...(minScore !== undefined && { minimumScore: minScore }),
  };
}

/** Which option a field that the service finds fault with comes from. */
export const OPTION_OF: Readonly<Record<string, string>> = {
  name: '--name',
  evaluationIds: '--evaluation',
  tags: '--tag',
  repeat: '--repeat',
  concurrency: '--concurrency',
  minimumScore: '--min-score',
};

const collect = (value: string, earlier: string[] = []): string[] => [...earlier, value];

function score(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value <= 100) return value;
  throw new InvalidArgumentError('It must be a number from 0 to 100.');
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

function seconds(text: string): number {
  const value = wholeNumber(text);
  if (value >= 1 && value <= LONGEST_TIMEOUT) return value;
  throw new InvalidArgumentError(`It must be a number of seconds from 1 to ${LONGEST_TIMEOUT}.`);
}
