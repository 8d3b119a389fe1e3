import type { Command } from 'commander';
import { EXIT, type ExitCode, misuse } from './errors.js';
import { connect, type Io, lookOf, type ServiceFlags } from './io.js';
import { addOptions, SERVICE_OPTIONS } from './options.js';
import type { AgentCall, Monitoring, Service } from './service.js';
import { textTable } from './table.js';
import { plain } from './text.js';

interface MonitorFlags extends ServiceFlags {
  readonly on?: boolean;
  readonly off?: boolean;
  readonly backfill?: string;
}

/** Adds `vat monitor`. @param conclude receives the exit code */
export function addMonitorCommand(program: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const monitoring = program
    .command('monitor')
    .description('print how calls of real callers are fetched from the platform of an agent')
    .argument('<agent>', 'identifier of the agent')
    .option('--on', 'switch it on: calls that end from now on are judged')
    .option('--off', 'switch it off')
    .option(
      '--backfill <time>',
      'fetch calls that ended from then on, such as 2026-11-20T00:00:00Z; at most 30 days ago',
    )
    .action(async (id: string, flags: MonitorFlags) => conclude(await monitor(id, flags, io)));
  addOptions(monitoring, SERVICE_OPTIONS);
}

/** @throws CommandError */
async function monitor(id: string, { on, off, backfill, ...flags }: MonitorFlags, io: Io): Promise<ExitCode> {
  if (off && (on || backfill !== undefined)) {
    throw misuse('--off is given beside --on or --backfill', 'Give one of them.');
  }
  const service = await connect(flags, io);
  if (on) requireRecords(await service.monitoring(id));
  if (on || off) await service.updateAgent(id, { callMonitoring: on === true });
  const monitoring = backfill === undefined ? await service.monitoring(id) : await service.backfill(id, backfill);
  if (backfill !== undefined) io.stderr.write(`Fetching calls that ended since ${plain(backfill)} begins.\n`);
  const failed = monitoring.state === 'off' ? [] : await service.failedCalls(id, MOST_FAILED);
  io.stdout.write(monitoringText(monitoring, lookOf(io)) + (await failedText(failed, service, lookOf(io))));
  return EXIT.met;
}

/** @throws CommandError for an agent whose calls cannot be fetched */
function requireRecords({ state, message }: Monitoring): void {
  if (state === 'off' && message !== null) throw misuse(plain(message, 2_000), 'Nothing was switched on.');
}

const MOST_FAILED = 5;

/** For a VIEWER, only the details of a call name what was not met. */
const saysWhatFailed = ({ reason }: AgentCall): boolean => reason?.startsWith('Not met: ') ?? false;

async function failedText(
  calls: readonly AgentCall[],
  service: Service,
  look: Parameters<typeof textTable>[2],
): Promise<string> {
  if (calls.length === 0) return '';
  const rows: string[][] = [];
  for (const call of calls) {
    const { reason } = saysWhatFailed(call) ? call : await service.call(call.id);
    const { id, externalId, endedAt, evaluationName } = call;
    rows.push([id, plain(externalId ?? ''), endedAt ?? '', plain(evaluationName, 60), plain(reason ?? '', 255)]);
  }
  const columns = ['Failed call', 'On its platform', 'Ended', 'Evaluation'].map((title) => ({ title }));
  const reports = [...new Set(calls.map(({ runId }) => `vat report ${runId} --out report.html\n`))].join('');
  const promotion = calls.some(saysWhatFailed) ? 'vat promote CALL makes a test of such a call.\n' : '';
  return `\n${textTable([...columns, { title: 'Reason', width: 80 }], rows, look).trimEnd()}\n\n${promotion}Their reports:\n${reports}`;
}

/** What a count of today is, as the rest of a sentence. */
const COUNTED: Readonly<Record<keyof Monitoring['today'], string>> = {
  judged: 'judged',
  failed: 'of them failed',
  notApplicable: 'that no evaluation is about',
  overLimit: 'over the limit of a day',
  own: 'that are tests of this service',
  sampledOut: 'not in the sample',
  malformed: 'whose record cannot be read',
  noWords: 'without words',
  awaited: 'whose record or recording is read again later',
};

const SOUND: Readonly<Record<Monitoring['recordings'], string>> = {
  measure_only: 'measured, and not kept',
  keep: 'measured and kept',
  none: 'not read: no time is measured',
};

function pendingText(pending: Monitoring['pendingEvaluations']): string[] {
  const [first, ...more] = pending;
  if (!first) return [];
  const count = more.length === 0 ? '1 evaluation counts' : `${pending.length} evaluations count`;
  return [`${count} from ${first.countsFrom} (UTC): ${pending.map(({ name }) => plain(name)).join(', ')}`];
}

function monitoringText(
  { state, message, lastFetchedAt, recordings, today, pendingEvaluations: pending, issues }: Monitoring,
  look: Parameters<typeof textTable>[2],
) {
  const counts = Object.entries(COUNTED).flatMap(([name, what]) => {
    const count = today[name as keyof typeof COUNTED];
    return count > 0 ? [`${count} ${what}`] : [];
  });
  const lines = [
    `${state}${message === null ? '' : `: ${plain(message, 2_000)}`}`,
    lastFetchedAt === null ? 'Calls were not fetched yet.' : `Calls were fetched at ${lastFetchedAt}.`,
    `Recordings: ${SOUND[recordings]}`,
    `Today (UTC): ${counts.length > 0 ? counts.join(', ') : 'no calls'}`,
    ...pendingText(pending),
  ];
  const rows = issues.map(({ externalId, endedAt, message: why }) => [plain(externalId), endedAt, plain(why, 255)]);
  const columns = [{ title: 'Call' }, { title: 'Ended' }, { title: 'Why its record cannot be read', width: 80 }];
  return `${lines.join('\n')}\n${rows.length > 0 ? `\n${textTable(columns, rows, look).trimEnd()}\n` : ''}`;
}
