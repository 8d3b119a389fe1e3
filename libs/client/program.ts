import { Command, InvalidArgumentError, Option } from 'commander';
import { addAgentCommands } from './agent-commands.js';
import { addMonitorCommand } from './monitor-command.js';
import { addPromoteCommand } from './promotion.js';
import { addScheduleCommands } from './schedule-commands.js';
import * as commands from './commands.js';
import type { FollowFlags } from './commands.js';
import type { Consent } from './consent.js';
import { addImportCallCommand } from './call-import.js';
import { addConnectionCommand } from './connection.js';
import { DEFAULT_URL } from './configuration.js';
import { addDeleteCommands } from './deletion.js';
import { type ExitCode, misuse } from './errors.js';
import { addHistoryCommands } from './history.js';
import type { Io, ServiceFlags } from './io.js';
import {
  addOptions,
  COMPARE_WITH,
  FOLLOW_OPTIONS,
  missingOption,
  SERVICE_OPTIONS,
  wholeNumber,
  YES,
} from './options.js';
import { versionText } from './own-package.js';
import type { StartRunRequest } from './service.js';
import { addSuiteCommands } from './suite-program.js';

export interface RunFlags extends FollowFlags, Consent {
  readonly agent?: string;
  readonly evaluation?: string[];
  readonly suite?: string;
  readonly tag?: string[];
  readonly repeat?: number;
  readonly medium?: 'text' | 'voice';
  readonly concurrency?: number;
  readonly minScore?: number;
  readonly minPassRate?: number;
  readonly allowUncounted?: number;
  readonly notWorseThan?: string;
  readonly agentVersion?: string;
  readonly variable?: Readonly<Record<string, string>>;
  readonly assistantVersion?: string;
  readonly maxPaidAttempts?: number;
  readonly name?: string;
  readonly dryRun?: boolean;
}

const FOOTER = `
Environment:
  VAT_URL            URL of the service (default: ${DEFAULT_URL})
  VAT_API_KEY        API key of the workspace; what changes something requires the role EDITOR or ADMIN
  VAT_API_KEY_FILE   file that contains the key, as an alternative
  VAT_PROVIDER_KEY   key of an agent or of its account, for vat agent; VAT_PROVIDER_KEY_FILE: a file that contains it

Exit codes:
  0  the gate is met
  1  the gate is not met, or the compared run became worse
  2  no result: service or agent unreachable, run cancelled or timed out
  3  wrong usage or configuration: also an invalid key, an unknown agent or run, a host name that does not resolve,
     a certificate that is not valid, and an answer that is not from the service`;

/**
 * The command line.
 * @param conclude receives the exit code of the executed command
 */
export function vatProgram(io: Io, conclude: (code: ExitCode) => void): Command {
  const program = new Command('vat')
    .description('Tests a voice agent with simulated calls in CI: executes runs and reports whether the gate is met.')
    .addHelpText('after', FOOTER)
    .version(versionText(io.own), '--version', 'print the version')
    .showHelpAfterError('(see --help)')
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) })
    .hook('preAction', (_program, command) => requireValues(command));

  const run = program
    .command('run')
    .description('start a run and follow it to its end')
    .option('--agent <id>', 'agent to call (required)')
    .option('--evaluation <id or key>', 'only this evaluation; may be repeated', collect)
    .addOption(
      new Option('--tag <tag>', 'only evaluations with this tag; may be repeated')
        .argParser(collect)
        .conflicts('evaluation'),
    )
    .option(
      '--suite <file>',
      'import this file first (.yaml, .yml, .json or .csv), unless the run would be refused; without --evaluation or --tag, only its evaluations run',
    )
    .option('--repeat <n>', 'calls per evaluation; repetition reveals flaky results', wholeNumber)
    .addOption(
      new Option('--medium <medium>', 'call the agent over text or voice; default: that of its protocol').choices([
        'text',
        'voice',
      ]),
    )
    .option('--concurrency <n>', 'maximum number of concurrent calls of the agent', wholeNumber)
    .option('--min-score <score>', 'score that the run must reach, 0 to 100', numberUpTo(100))
    .option('--min-pass-rate <rate>', 'share of the counted calls that must pass, 0 to 1', numberUpTo(1))
    .option('--allow-uncounted <n>', 'number of calls that may end as error or invalid', wholeNumber)
    .option('--not-worse-than <run>', 'no case may be worse than in this run: previous, or an id')
    .option('--agent-version <text>', 'version of the agent, for instance a commit; shown in results and comparisons')
    .option('--variable <name=value>', "dynamic variable for the agent's platform; may be repeated", variable)
    .option('--assistant-version <id>', 'version of the agent that its platform is asked for')
    .option('--max-paid-attempts <n>', 'attempts at a call of a platform that bills, 1 to 3', wholeNumber)
    .option('--name <name>', 'name of the run')
    .addOption(YES)
    .option('--no-wait', 'print the id of the run and exit without following it')
    .option('--dry-run', 'print the plan without importing or starting anything')
    .action(async (flags: RunFlags) => {
      const { agent, dryRun } = flags;
      if (agent === undefined) return missingOption(run, '--agent <id>');
      const request = requestOf(flags);
      const execute = dryRun ? commands.plan : commands.run;
      conclude(await execute(agent, request, flags, flags, io));
    });
  addOptions(run, FOLLOW_OPTIONS, SERVICE_OPTIONS);

  const rerun = program
    .command('rerun')
    .description('run the plan of an earlier run again and follow it')
    .argument('<run>', 'identifier of the earlier run')
    .addOption(new Option('--only <which>', 'only cases with a call that did not pass').choices(['failed']))
    .addOption(YES)
    .option('--no-wait', 'print the id of the run and exit without following it')
    .action(async (id: string, { only, ...flags }: FollowFlags & Consent & { only?: 'failed' }) => {
      conclude(await commands.rerun(id, only, flags, io));
    });
  addOptions(rerun, FOLLOW_OPTIONS, SERVICE_OPTIONS);

  const remeasure = program
    .command('remeasure')
    .description('judge the recorded calls of a run again, in a new run without calls, and follow it')
    .argument('<run>', 'identifier of the run with the recordings')
    .option('--no-wait', 'print the id of the run and exit without following it')
    .action(async (id: string, flags: FollowFlags) => conclude(await commands.remeasure(id, flags, io)));
  addOptions(remeasure, FOLLOW_OPTIONS, SERVICE_OPTIONS);

  const rejudge = program
    .command('rejudge')
    .description('judge the criteria of a run again, in a new run without calls, and follow it')
    .argument('<run>', 'identifier of the run')
    .option('--no-wait', 'print the id of the run and exit without following it')
    .action(async (id: string, flags: FollowFlags) => conclude(await commands.rejudge(id, flags, io)));
  addOptions(rejudge, FOLLOW_OPTIONS, SERVICE_OPTIONS);

  addImportCallCommand(program, io, conclude);
  addPromoteCommand(program, io, conclude);

  const status = program
    .command('status')
    .description('print the results of a run; exit code 2 if it has not ended')
    .argument('<run>', 'identifier of the run')
    .option('--wait', 'follow it to its end', false)
    .action(async (id: string, flags: FollowFlags) => conclude(await commands.status(id, flags, io)));
  addOptions(status, FOLLOW_OPTIONS, SERVICE_OPTIONS);

  const compare = program
    .command('compare')
    .description('compare a run with an earlier one or with several; exit code 1 if it is worse by more than chance')
    .argument('<run>', 'identifier of the run')
    .argument('[others...]', 'identifiers of the runs to compare with, or previous (default: previous)')
    .option('--strict', 'exit code 2 if every case had too few calls to decide')
    .option('--json <file>', 'write the comparison as JSON')
    .option('--markdown <file>', 'write the table as Markdown; appended to $GITHUB_STEP_SUMMARY')
    .option('--report <file>', 'write the report of the run with the comparison as an HTML page')
    .action(async (id: string, others: string[], flags: Parameters<typeof commands.compare>[2]) => {
      conclude(await commands.compare(id, others.length > 0 ? others : ['previous'], flags, io));
    });
  addOptions(compare, SERVICE_OPTIONS);
  addConnectionCommand(program, io, conclude);
  addAgentCommands(program, io, conclude);
  addScheduleCommands(program, io, conclude);
  addMonitorCommand(program, io, conclude);

  for (const [kind, what] of [
    ['report', 'report as an HTML page'],
    ['junit', 'results as JUnit XML'],
  ] as const) {
    const save = program
      .command(kind)
      .description(`save a run's ${what}`)
      .argument('<run>', 'identifier of the run')
      .requiredOption('--out <file>', 'file to write')
      .action(async (id: string, flags: ServiceFlags & { out: string; compareWith?: string }) => {
        conclude(await commands.save(kind, id, flags, io));
      });
    if (kind === 'report') save.addOption(COMPARE_WITH);
    addOptions(save, SERVICE_OPTIONS);
  }
  addHistoryCommands(program, io, conclude);
  addSuiteCommands(program, io, conclude);
  addDeleteCommands(program, io, conclude);
  return program;
}

/** The request that the options of `vat run` stand for. */
export function requestOf(flags: RunFlags): StartRunRequest {
  const { tag, repeat, medium, concurrency, minScore, minPassRate, allowUncounted, name } = flags;
  const { notWorseThan, agentVersion, variable: agentVariables, assistantVersion, maxPaidAttempts } = flags;
  // Defaults are defined by the service.
  return {
    ...(name !== undefined && { name }),
    ...(tag && { tags: tag }),
    ...(repeat !== undefined && { repeat }),
    ...(medium !== undefined && { medium }),
    ...(concurrency !== undefined && { concurrency }),
    ...(minScore !== undefined && { minimumScore: minScore }),
    ...(minPassRate !== undefined && { minimumPassRate: minPassRate }),
    ...(allowUncounted !== undefined && { allowedUncounted: allowUncounted }),
    ...(notWorseThan !== undefined && { notWorseThan }),
    ...(agentVersion !== undefined && { agentVersion }),
    ...(agentVariables && { agentVariables }),
    ...(assistantVersion !== undefined && { assistantVersion }),
    ...(maxPaidAttempts !== undefined && { maxPaidAttempts }),
  };
}

/** Option of each field of a request, for error messages. */
export const OPTION_OF: Readonly<Record<string, string>> = {
  name: '--name',
  evaluationIds: '--evaluation',
  tags: '--tag',
  repeat: '--repeat',
  medium: '--medium',
  concurrency: '--concurrency',
  minimumScore: '--min-score',
  minimumPassRate: '--min-pass-rate',
  allowedUncounted: '--allow-uncounted',
  notWorseThan: '--not-worse-than',
  agentVersion: '--agent-version',
  agentVariables: '--variable',
  assistantVersion: '--assistant-version',
  maxPaidAttempts: '--max-paid-attempts',
  cron: '--cron',
  timeZone: '--time-zone',
  run: '--run',
  maxPaidSecondsPerDay: '--max-paid-seconds-per-day',
  heartbeatUrl: '--heartbeat-url',
  protocol: '--protocol',
  url: '--address',
  headers: '--connection',
  firstSpeaker: '--connection',
  options: '--connection',
  assistantId: '--assistant',
  type: '--type',
  phoneNumber: '--phone-number',
  phoneNumberId: '--phone-number-id',
  apiKey: 'VAT_PROVIDER_KEY',
  language: '--language',
};

/** A value may contain `=`. */
function variable(text: string, earlier: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('Must be NAME=VALUE.');
  return { ...earlier, [name]: value };
}

/** An unset variable of a pipeline, as in `--report "$REPORT"`, is an empty value. @throws CommandError */
function requireValues(command: Command): void {
  const options = command.options.map(
    (option) => [option.long, command.getOptionValue(option.attributeName())] as const,
  );
  const operands = command.registeredArguments.map(
    (operand, index) => [`<${operand.name()}>`, command.args[index]] as const,
  );
  const empty = [...options, ...operands].find(([, value]) => [value].flat().includes(''));
  if (empty) throw misuse(`${empty[0]} is empty`, 'Give it a value; a variable that is not set is empty.');
}

const collect = (value: string, earlier: string[] = []): string[] => [...earlier, value];

const numberUpTo =
  (maximum: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+(\.\d+)?$/.test(text) && value <= maximum) return value;
    throw new InvalidArgumentError(`Must be a number from 0 to ${maximum}.`);
  };
