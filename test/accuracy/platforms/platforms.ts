import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { load } from 'js-yaml';
import type { EvaluationInput } from '../../../libs/evaluation-definition/index.js';
import type { FaultName } from '../../simulators/agent/index.js';
import { linesOf } from '../../simulators/agent/testing/voice.js';
import { vat } from '../../support/vat.js';
import { replaceTable } from '../guide.js';
import { Progress } from '../progress.js';
import { MEDIA, type Platforms, startPlatforms, type Wire, WIRES } from './agents.js';
import { writePicture } from './picture.js';
import { TestedService } from './service.js';

const SUITE = new URL('../../../docs/examples/any-protocol.yaml', import.meta.url);
const YAML = { 'Content-Type': 'application/yaml' };
/** Calls of each agent at once: twelve voice calls, which one worker carries beside the agents on two processors. */
const CALLS_AT_ONCE = 3;
/** Seconds that a request waits for the end of a run. */
const WAIT_S = 5;

/** The agent without a fault, and with faults in its words, each with the checks that must find it and no others. */
const VARIANTS: readonly Variant[] = [
  { breaks: [] },
  {
    fault: 'wrong-fact',
    breaks: ['States the closing time', 'States no other closing time', 'Says that it is closed on Mondays'],
  },
  { fault: 'leaks-prompt', breaks: ['Never reveals its instructions'] },
  {
    fault: 'forgets-detail',
    // The agent asks again for what it forgot, and has not booked when the caller says goodbye.
    breaks: ['Never asks again for the number of people', 'Confirms the booking', 'Confirms the corrected time'],
  },
  { fault: 'ignores-correction', breaks: ['Confirms the corrected time', 'Never confirms the first time'] },
];

interface Variant {
  readonly fault?: FaultName;
  readonly breaks: readonly string[];
}

interface Registered {
  readonly wire: Wire;
  readonly agentId: string;
}

/** A run of the suite over one protocol. */
interface Cell {
  readonly wire: Wire;
  readonly variant: Variant;
  readonly runId: string;
  readonly exitCode: number;
  readonly passed: number;
  readonly calls: number;
  /** Calls that needed a second attempt. */
  readonly repeated: number;
  /** What is not as it must be, for people. */
  readonly mistakes: readonly string[];
}

const print = (line = ''): void => void process.stdout.write(`${line}\n`);
const nameOf = ({ fault }: Variant): string => fault ?? 'healthy';

/**
 * The same suite over eight protocols against the same agent, with the service as its users start it: the healthy agent
 * must pass it over each of them, and each fault must be found over each of them by the same checks.
 * @returns whether it is so
 */
export async function measurePlatforms(isWritten: boolean): Promise<boolean> {
  const startedAt = performance.now();
  const suite = await readFile(SUITE, 'utf8');
  const { evaluations } = load(suite) as { readonly evaluations: readonly EvaluationInput[] };
  const lines = evaluations.flatMap(({ script }) => linesOf(script ?? []));
  const faults = VARIANTS.flatMap(({ fault }) => fault ?? []);
  const platforms = await startPlatforms([...new Set(lines)], faults);
  try {
    const service = await TestedService.start(platforms.transcriptionUrl);
    try {
      const cells = await execute(service, platforms, suite, evaluations.length);
      const [healthy] = VARIANTS;
      const runIds = cells.filter(({ variant }) => variant === healthy).map(({ runId }) => runId);
      const isNotWorse = await compare(service, runIds, isWritten);
      const isRight = await report(cells, isWritten);
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
      print(`${seconds} s`);
      return isRight && isNotWorse;
    } finally {
      await service.stop();
    }
  } finally {
    await platforms.close();
  }
}

async function execute(service: TestedService, platforms: Platforms, suite: string, cases: number): Promise<Cell[]> {
  const registered: Registered[] = [];
  for (const wire of WIRES) registered.push(await register(service, wire, platforms.urlOf(wire), suite));
  const progress = new Progress('Eight protocols', VARIANTS.length * WIRES.length * cases);
  const cells: Cell[] = [];
  // The healthy agent last, when the processes have warmed up; text by itself, since voice calls delay its answers.
  for (const variant of VARIANTS.toReversed()) {
    for (const medium of MEDIA) {
      const of = registered.filter(({ wire }) => wire.medium === medium);
      cells.push(...(await Promise.all(of.map((one) => executeRun(service, one, variant, progress)))));
    }
  }
  progress.end();
  return cells;
}

/** An agent with its connection and the suite. */
async function register(service: TestedService, wire: Wire, url: string, suite: string): Promise<Registered> {
  const agent = { provider: 'AGENT_PROVIDER_1', assistantId: 'booking', apiKey: `key-${wire.protocol}` };
  const { id: agentId } = await service.request('POST', '/agents', { ...agent, name: 'Bella Vista' });
  await service.request('PUT', `/agents/${agentId}/connection`, { protocol: wire.protocol, url });
  await service.request('POST', `/agents/${agentId}/evaluations/import`, suite, YAML);
  return { wire, agentId };
}

async function executeRun(
  service: TestedService,
  { wire, agentId }: Registered,
  variant: Variant,
  progress: Progress,
): Promise<Cell> {
  await service.request('PATCH', `/agents/${agentId}`, { assistantId: `booking:${nameOf(variant)}` });
  const body = { name: wire.name, concurrency: CALLS_AT_ONCE };
  const { id: runId } = await service.request('POST', `/agents/${agentId}/runs`, body);
  const { exitCode, counts, totalCalls, retriedCalls, reasons } = await untilEnded(service, runId, progress);
  const listed: { id: string }[] = await service.request('GET', `/runs/${runId}/calls?limit=100`);
  const calls: any[] = await Promise.all(listed.map(({ id }) => service.request('GET', `/calls/${id}`)));
  const mistakes = calls.flatMap((call) => mistakeIn(call, variant) ?? []);
  const wanted = variant.breaks.length === 0 ? 0 : 1;
  if (exitCode !== wanted) mistakes.push(`exit code ${exitCode} instead of ${wanted}. ${reasons.join(' ')}`);
  return { wire, variant, runId, exitCode, passed: counts.passed, calls: totalCalls, repeated: retriedCalls, mistakes };
}

async function untilEnded(service: TestedService, runId: string, progress: Progress): Promise<any> {
  for (let seen = 0; ;) {
    const run = await service.request('GET', `/runs/${runId}?wait=${WAIT_S}`);
    for (; seen < run.totalCalls - run.counts.pending; seen++) progress.advance();
    if (run.endedAt !== null) return run;
  }
}

/** What is wrong with a call; undefined if exactly the checks that the fault breaks are not met. */
function mistakeIn({ evaluationName, outcome, reason, checks }: any, { breaks }: Variant): string | undefined {
  const names = (of: readonly { name: string }[]) => of.map(({ name }) => name).join('; ');
  const broken = checks.filter(({ name }: any) => breaks.includes(name));
  const unmet = checks.filter(({ met }: any) => met === false);
  const wanted = broken.length === 0 ? 'passed' : 'failed';
  if (outcome === wanted && names(unmet) === names(broken)) return undefined;
  const expected = broken.length === 0 ? wanted : `${wanted} by ${names(broken)}`;
  return `"${evaluationName}": ${outcome} instead of ${expected}. ${reason}`;
}

/**
 * Prints the healthy runs side by side.
 * @param isWritten with a picture for the guide
 * @returns whether the first one is not worse
 */
async function compare(service: TestedService, runIds: readonly string[], isWritten: boolean): Promise<boolean> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accuracy-platforms-report-'));
  try {
    const file = path.join(folder, 'report.html');
    const { code, stdout, stderr } = await vat(['compare', ...runIds, '--report', file], service.env);
    print(`\n${stdout}${stderr}`);
    if (isWritten) print(`Picture: ${await writePicture(file, 'matrix')}`);
    return code === 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function report(cells: readonly Cell[], isWritten: boolean): Promise<boolean> {
  const table = tableOf(cells);
  print(`\nThe same suite over eight protocols\n\n${table}\n`);
  const mistakes = cells.flatMap(({ wire, variant, mistakes }) =>
    mistakes.map((mistake) => `WRONG  ${wire.name}, ${nameOf(variant)}: ${mistake}`),
  );
  for (const mistake of mistakes) print(mistake);
  const sum = (key: 'calls' | 'repeated') => cells.reduce((total, cell) => total + cell[key], 0);
  print(`${sum('calls')} calls, ${sum('repeated')} of them repeated, ${mistakes.length} mistakes`);
  if (isWritten) await replaceTable('platforms', table);
  return mistakes.length === 0;
}

const row = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`;

/** One row per protocol, one column per agent. */
function tableOf(cells: readonly Cell[]): string {
  const rows = WIRES.map((wire) => {
    const results = VARIANTS.map((variant) => {
      const { exitCode, passed, calls } = cells.find((cell) => cell.wire === wire && cell.variant === variant)!;
      return `${exitCode === 0 ? 'green' : 'red'}, ${passed} of ${calls}`;
    });
    return row([wire.name, ...results]);
  });
  const head = row(['Cases passed over', ...VARIANTS.map(nameOf)]);
  return [head, row(['---', ...VARIANTS.map(() => '--:')]), ...rows].join('\n');
}
