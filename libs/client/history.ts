import { type Command, Option } from 'commander';
import { redSince } from '../statistics/index.js';
import { count, dateTime, duration, number, percent } from '../text/index.js';
import { EXIT, type ExitCode } from './errors.js';
import { connect, type Io, lookOf, type ServiceFlags } from './io.js';
import { addOptions, missingOption, SERVICE_OPTIONS, wholeNumber } from './options.js';
import { jsonText, prepareFile, saveFile } from './outputs.js';
import type { CaseResult, ListedRun } from './service.js';
import { type Column, type Look, textTable } from './table.js';
import { plain } from './text.js';

interface HistoryFlags extends ServiceFlags {
  readonly agent?: string;
  readonly limit?: number;
  readonly json?: boolean;
}

const DEFAULT_LIMIT = 25;

/** Adds `vat runs` and `vat history`. @param conclude receives the exit code */
export function addHistoryCommands(program: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const runs = listing(
    program.command('runs').description('list the runs of an agent with their outcomes, newest first'),
  )
    .option('--limit <n>', 'number of runs, up to 100', wholeNumber, DEFAULT_LIMIT)
    .action(async ({ agent, ...flags }: HistoryFlags) => {
      if (agent === undefined) return missingOption(runs, '--agent <id>');
      conclude(await listRuns(agent, flags, io));
    });
  addOptions(runs, SERVICE_OPTIONS);

  const history = listing(
    program.command('history').description('print since when a case is red, and how it ended in each run'),
  )
    .argument('<case>', 'key of an evaluation, or caseKey of a case')
    .action(async (key: string, { agent, ...flags }: HistoryFlags) => {
      if (agent === undefined) return missingOption(history, '--agent <id>');
      conclude(await printHistory(agent, key, flags, io));
    });
  addOptions(history, SERVICE_OPTIONS);
}

/** Adds `vat agent page`. @param agent the command `vat agent` */
export function addAgentPageCommand(agent: Command, io: Io, conclude: (code: ExitCode) => void): void {
  const page = agent
    .command('page')
    .description('save the page of an agent: is it green, since when not, what changed')
    .argument('<agent>', 'identifier of the agent')
    .requiredOption('--out <file>', 'file to write')
    .addOption(new Option('--days <n>', 'days that it shows; the service defaults to 30').choices(['7', '30', '90']))
    .action(async (id: string, { out, days, ...flags }: ServiceFlags & { out: string; days?: '7' | '30' | '90' }) => {
      const service = await connect(flags, io);
      await prepareFile(out);
      await saveFile(out, await service.agentPage(id, days), io);
      conclude(EXIT.met);
    });
  addOptions(page, SERVICE_OPTIONS);
}

const listing = (command: Command): Command =>
  command.option('--agent <id>', 'agent (required)').option('--json', 'print the list as JSON');

async function listRuns(agentId: string, { limit = DEFAULT_LIMIT, json, ...flags }: HistoryFlags, io: Io) {
  const runs = await (await connect(flags, io)).runs(agentId, limit);
  io.stdout.write(
    `${json ? jsonText(runs) : runs.length === 0 ? 'No runs.' : textTable(RUNS, runs.map(runRow), lookOf(io))}\n`,
  );
  return EXIT.met;
}

/** @throws CommandError if no ended run of the agent has the case */
async function printHistory(agentId: string, key: string, { json, ...flags }: HistoryFlags, io: Io) {
  const results = await (await connect(flags, io)).history(agentId, key);
  io.stdout.write(`${json ? jsonText(results) : historyText(results, lookOf(io))}\n`);
  return EXIT.met;
}

/** Since when each case is red, and its results. @param results newest first */
export function historyText(results: readonly CaseResult[], look: Look): string {
  const byCase = new Map<string, CaseResult[]>();
  for (const result of results) byCase.set(result.caseKey, [...(byCase.get(result.caseKey) ?? []), result]);
  const since = [...byCase.values()].map((of) => sinceText(of, look));
  return [
    ...since,
    '',
    textTable(
      byCase.size > 1 ? [...HISTORY, CASE] : HISTORY,
      results.map((one) => historyRow(one, byCase.size > 1)),
      look,
    ),
  ].join('\n');
}

function sinceText(results: readonly CaseResult[], look: Look): string {
  const [newest] = results;
  const name = `"${plain(newest!.name, 120)}"`;
  const first = redSince(results);
  if (first) {
    const oldest = first === results.findLast(({ state }) => state !== 'not_judged');
    const text = oldest ? 'in all of its runs, since' : 'since';
    return look.paint('red', `${name} is red ${text} ${dateTime(first.endedAt)}, run ${first.runId}`);
  }
  if (results.every(({ state }) => state === 'not_judged')) return look.paint('yellow', `${name} was never judged`);
  return look.paint('green', `${name} is green in ${count(results.length, 'run')} listed`);
}

const figure = (title: string): Column => ({ title, align: 'right' });
const colour = (state: string) =>
  state === 'passed' || state === 'COMPLETED' ? 'green' : state === 'failed' || state === 'FAILED' ? 'red' : 'yellow';

/** Columns with figures of their own between those that both tables have. */
const columns = (state: string, figures: readonly string[]): Column[] => [
  ...[{ title: 'Ended' }, { title: state, colour }],
  ...['Passed', 'Not judged', ...figures].map(figure),
  ...[{ title: 'Agent version' }, { title: 'Run' }],
];

const outcomeCells = ({ endedAt, outcomes }: CaseResult | ListedRun, state: string): string[] => [
  endedAt === null ? '–' : dateTime(endedAt),
  state,
  `${outcomes.passed}/${outcomes.passed + outcomes.failed}`,
  number(outcomes.invalid + outcomes.error),
];

const CASE: Column = { title: 'Case' };
const HISTORY = columns('State', ['p50']);

const historyRow = (result: CaseResult, hasCase: boolean): string[] => [
  ...outcomeCells(result, result.state.replace('_', ' ')),
  result.latency.p50 === null ? '–' : duration(result.latency.p50),
  plain(result.agentVersion ?? '–', 40),
  result.runId,
  ...(hasCase ? [plain(result.name, 120)] : []),
];

const RUNS = [...columns('Status', ['Pass rate', 'Score']), { title: 'Name' }];

const runRow = (run: ListedRun): string[] => [
  ...outcomeCells(run, run.status),
  run.passRate === null ? '–' : percent(run.passRate),
  run.score === null ? '–' : number(run.score),
  plain(run.agentVersion ?? '–', 40),
  run.id,
  plain(run.name, 120),
];
