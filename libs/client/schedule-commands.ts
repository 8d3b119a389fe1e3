import type { Command } from 'commander';
import { readObject } from './agent-commands.js';
import { type Consent, consentTo } from './consent.js';
import { type ExitCode, EXIT } from './errors.js';
import { connect, type Io, lookOf, type ServiceFlags } from './io.js';
import { addOptions, missingOption, SERVICE_OPTIONS, wholeNumber, YES } from './options.js';
import type { Schedule } from './service.js';
import { textTable } from './table.js';
import { plain } from './text.js';

interface CreateFlags extends ServiceFlags {
  readonly agent: string;
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly run?: string;
  readonly maxPaidSecondsPerDay?: number;
  readonly heartbeatUrl?: string;
}

/** Adds `vat schedule` and its commands. @param conclude receives the exit code */
export function addScheduleCommands(program: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const schedule = program.command('schedule').description('runs of an agent that start by themselves');

  const listing = schedule
    .command('list')
    .description('list the schedules of an agent')
    .option('--agent <id>', 'agent whose schedules are listed (required)')
    .action(async ({ agent, ...flags }: ServiceFlags & { agent?: string }) => {
      if (agent === undefined) return missingOption(listing, '--agent <id>');
      conclude(await list(agent, flags, io));
    });

  const creating = schedule
    .command('create')
    .description('create a schedule and print its id; what its runs can cost is printed, too')
    .option('--agent <id>', 'agent to call (required)')
    .option('--name <name>', 'name of the schedule (required)')
    .option('--cron <pattern>', 'when it is due: minute, hour, day, month and day of the week (required)')
    .option('--time-zone <zone>', 'IANA time zone of the pattern, such as Europe/Berlin (required)')
    .option('--run <file>', 'JSON file with the body of the run: tags, repeat, minimumScore and others; default: {}')
    .option('--max-paid-seconds-per-day <n>', 'refuse runs that could cost more in a day', wholeNumber)
    .option('--heartbeat-url <url>', 'address that gets a GET after each run')
    .action(async (flags: Partial<CreateFlags>) => {
      for (const [flag, value] of [
        ['--agent <id>', flags.agent],
        ['--name <name>', flags.name],
        ['--cron <pattern>', flags.cron],
        ['--time-zone <zone>', flags.timeZone],
      ] as const) {
        if (value === undefined) return missingOption(creating, flag);
      }
      conclude(await create(flags as CreateFlags, io));
    });
  for (const command of [listing, creating]) addOptions(command, SERVICE_OPTIONS);

  for (const [name, what, act] of [
    ['run', 'start a run of a schedule now and print its id', run],
    ['pause', 'start no runs of a schedule until it is resumed', enable(false)],
    ['resume', 'start runs of a paused schedule again', enable(true)],
    ['delete', 'delete a schedule; its runs stay', remove],
  ] as const) {
    const command = schedule
      .command(name)
      .description(what)
      .argument('<schedule>', 'identifier of the schedule, as in vat schedule list')
      .action(async (id: string, flags: ServiceFlags) => conclude(await act(id, flags, io)));
    addOptions(command, name === 'run' ? [YES] : [], SERVICE_OPTIONS);
  }
}

const COLUMNS = [
  ...[{ title: 'ID' }, { title: 'Name', width: 32 }, { title: 'When', width: 32 }, { title: 'Next' }],
  { title: 'Last run' },
];

/** @throws CommandError */
async function list(agentId: string, flags: ServiceFlags, io: Io): Promise<ExitCode> {
  const found = await (await connect(flags, io)).schedules(agentId);
  const rows = found.map(({ id, name, cron, timeZone, nextRunAt, lastRunId }) => [
    id,
    plain(name, 120),
    plain(`${cron} ${timeZone}`, 255),
    nextRunAt ?? 'paused',
    lastRunId ?? '–',
  ]);
  const table = rows.length > 0 ? textTable(COLUMNS, rows, lookOf(io)).trimEnd() : 'The agent has no schedules.';
  io.stdout.write(`${table}\n`);
  return EXIT.met;
}

/** @throws CommandError */
async function create({ agent, run: file, ...flags }: CreateFlags, io: Io): Promise<ExitCode> {
  const { name, cron, timeZone, maxPaidSecondsPerDay, heartbeatUrl } = flags;
  const body = {
    ...{ name, cron, timeZone, run: file === undefined ? {} : await readObject(file, RUN_EXAMPLE) },
    ...(maxPaidSecondsPerDay !== undefined && { maxPaidSecondsPerDay }),
    ...(heartbeatUrl !== undefined && { heartbeatUrl }),
  };
  const created = await (await connect(flags, io)).createSchedule(agent, body);
  const { maxPaidSeconds, maxPaidMinutesPerWeek } = created;
  const cost =
    maxPaidSeconds === null
      ? 'the platform does not bill its runs'
      : `a run costs at most ${maxPaidSeconds} seconds of the platform, a week ${maxPaidMinutesPerWeek} minutes`;
  io.stderr.write(`Created ${shown(created)}: ${cost}\n`);
  io.stdout.write(`${created.id}\n`);
  return EXIT.met;
}

/** @throws CommandError */
async function run(id: string, flags: ServiceFlags & Consent, io: Io): Promise<ExitCode> {
  const service = await connect(flags, io);
  const planned = async () => {
    const { agentId, run: request } = await service.schedule(id);
    return service.plan(agentId, request);
  };
  await consentTo(planned, flags, io);
  io.stdout.write(`${(await service.runSchedule(id)).id}\n`);
  return EXIT.met;
}

const enable =
  (enabled: boolean) =>
  /** @throws CommandError */
  async (id: string, flags: ServiceFlags, io: Io): Promise<ExitCode> => {
    const schedule = await (await connect(flags, io)).updateSchedule(id, { enabled });
    io.stdout.write(`${enabled ? 'Resumed' : 'Paused'} ${shown(schedule)}\n`);
    return EXIT.met;
  };

/** @throws CommandError */
async function remove(id: string, flags: ServiceFlags, io: Io): Promise<ExitCode> {
  await (await connect(flags, io)).deleteSchedule(id);
  io.stdout.write(`Deleted schedule ${plain(id)}\n`);
  return EXIT.met;
}

const RUN_EXAMPLE = '{ "tags": ["smoke"], "repeat": 3 }';

const shown = ({ name, nextRunAt }: Schedule): string =>
  `schedule "${plain(name, 120)}"${nextRunAt === null ? '' : `, next at ${nextRunAt}`}`;
