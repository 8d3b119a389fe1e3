/**
 * Accuracy of the verdicts: every planted fault of the reference agent, and the agent without a fault, in every reference
 * evaluation. Fails unless every call has the expected outcome for the expected reason.
 *
 * - In process, on a virtual clock: many repetitions with different dates, latencies and speaking rates, which must not
 *   change a verdict.
 * - Over HTTP, on the real clock: once. The slow agent takes 1.7 s instead of 2.5 s (the limit is 1.5 s).
 *
 * Usage: npm run accuracy [-- REPETITIONS]
 */
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { type FaultName, startReferenceAgent } from '../../libs/reference-agent/index.js';
import {
  accuracyOf,
  AGENTS,
  executeTrial,
  isPerfect,
  tally,
  type Tally,
  type Trial,
  type Tried,
  trials,
} from '../../libs/reference-agent/testing/accuracy.js';
import { referenceTransport } from '../../libs/reference-agent/testing/transport.js';
import { chatCompletions, RealClock, VirtualClock } from '../../libs/simulation/index.js';
import { Progress } from './progress.js';

const REPETITIONS = 20;
const SLOW_MS = 1_700;
const LATENCY_MS = 20;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** A Monday at midnight; each repetition is a day and an hour later. */
const FIRST_DAY = Date.UTC(2026, 10, 30);
/** Tokens per second; 0 is all at once. */
const PACES = [0, 4, 15];

/** Runs all trials concurrently. */
async function run(title: string, list: readonly Trial[], carryOne: (trial: Trial) => Promise<Tried>) {
  const progress = new Progress(title, list.length);
  const tried = await Promise.all(
    list.map(async (trial) => {
      const one = await carryOne(trial);
      progress.advance();
      return one;
    }),
  );
  progress.end();
  return tried;
}

function inProcess(repetitions: number): Promise<Tried[]> {
  const clock = new VirtualClock();
  return run('In process', trials(repetitions), (trial) => {
    const { fault, repetition } = trial;
    const now = FIRST_DAY + repetition * (DAY_MS + DAY_MS / 24);
    const latencyMs = 40 + ((repetition * 370) % 1_000);
    const tokensPerSecond = PACES[repetition % PACES.length];
    const transport = referenceTransport({ fault, now: () => now, latencyMs, tokensPerSecond });
    return executeTrial(trial, transport, clock);
  });
}

async function overHttp(): Promise<Tried[]> {
  const server = await startReferenceAgent({ port: 0, latencyMs: LATENCY_MS, slowMs: SLOW_MS });
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  const clock = new RealClock();
  try {
    return await run('Over HTTP', trials(1), (trial) => {
      const url = `${server.url}/agents/{assistantId}/v1/chat/completions`;
      const assistantId = `booking:${nameOf(trial.fault)}`;
      return executeTrial(trial, chatCompletions({ client, url, assistantId }), clock);
    });
  } finally {
    await server.close();
  }
}

const nameOf = (fault: FaultName | undefined): string => fault ?? 'sound';
const print = (line = ''): void => void process.stdout.write(`${line}\n`);

const COLUMNS = ['fault', 'calls', 'to fail', 'to pass', 'failed', 'passed', 'uncounted', 'right reason'];
const WIDTHS = COLUMNS.map((column, index) => (index === 0 ? 20 : column.length + 3));
const row = (cells: readonly (string | number)[]): string =>
  cells.map((cell, i) => (i === 0 ? String(cell).padEnd(WIDTHS[i]!) : String(cell).padStart(WIDTHS[i]!))).join('');

function cells(name: string, { calls, wanted, found, rightReason }: Tally) {
  const reasons = wanted.failed === 0 ? '-' : rightReason;
  return [name, calls, wanted.failed, wanted.passed, found.failed, found.passed, found.uncounted, reasons];
}

function report(title: string, tried: readonly Tried[]): void {
  const all = tally(tried);
  const { precision, recall, reasonPrecision, reasonRecall } = accuracyOf(all);
  print(`\n${title}`);
  print(row(COLUMNS));
  for (const fault of AGENTS) print(row(cells(nameOf(fault), tally(tried.filter((one) => one.fault === fault)))));
  print(row(cells('all', all)));
  print(`failed:        precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`);
  print(`right reason:  precision ${reasonPrecision.toFixed(3)}, recall ${reasonRecall.toFixed(3)}`);
  for (const { fault, key, expected, result, isRightReason } of tried) {
    if (result.outcome === expected.outcome && isRightReason === (expected.outcome === 'failed')) continue;
    print(`WRONG  ${nameOf(fault)} in ${key}, expected ${expected.outcome}: ${result.outcome}. ${result.reason}`);
  }
}

async function main(): Promise<void> {
  const repetitions = Number(process.argv[2] ?? REPETITIONS);
  if (!Number.isInteger(repetitions) || repetitions < 1)
    throw new Error('The number of repetitions must be a whole number of at least 1');
  const startedAt = performance.now();
  const virtual = await inProcess(repetitions);
  const real = await overHttp();
  report(`In process, on a virtual clock, ${repetitions} times each`, virtual);
  report('Over HTTP, on the real clock, once each', real);
  const isRight = isPerfect(tally(virtual)) && isPerfect(tally(real));
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  print(`\n${isRight ? 'Every verdict is right.' : 'Not every verdict is right.'} ${seconds} s`);
  process.exitCode = isRight ? 0 : 1;
}

await main();
