/**
 * Calls over Twilio, of which only the agent's sound is known, with a transcription server that listens: how they are judged by
 * an exact one, by one that mishears a tenth of the words, and by one that fails.
 *
 * Usage: node --import @swc-node/register/esm-register test/accuracy/telephone-words.ts [CALLS] [--write]
 */
import {
  decisionOf,
  judgedTelephoneWords,
  type JudgedTelephoneWords,
  RECOGNISER_FAILURES,
  type RecogniserFailure,
  TelephoneFailures,
  telephoneExpectationOf,
  type TelephoneWordCell,
  telephoneWordCells,
  TelephoneWords,
  voiceAccuracy,
  VoiceCalls,
  WORD_FAULT_NAMES,
} from '../../libs/reference-agent/testing/voice.js';
import { readFileSync } from 'node:fs';
import { wilsonInterval } from '../../libs/statistics/index.js';
import { replaceTable } from './guide.js';
import { Progress } from './progress.js';
import { telephoneRows } from './telephone-rows.js';

const GUIDE = readFileSync(new URL('../../docs/guides/checks.md', import.meta.url), 'utf8');
const CALLS = 1_000;
const WORD_ERRORS = 0.1;
/** Of the healthy agents that the server mishears. */
const MAX_FAILED = 0.02;
const MAX_FAILED_UPPER = 0.03;

const print = (line = ''): void => void process.stdout.write(`${line}\n`);
const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** Every cell once, with a server that hears exactly. */
async function exactly(words: TelephoneWords): Promise<JudgedTelephoneWords[]> {
  const cells = telephoneWordCells(1);
  const progress = new Progress('Twilio, exact words', cells.length);
  const results: JudgedTelephoneWords[] = [];
  for (const cell of cells) {
    results.push(judgedTelephoneWords(cell, await words.call(cell, await words.recogniser(cell.key))));
    progress.advance();
  }
  progress.end();
  return results;
}

/** Healthy and faulty agents by turns, with their attempts as the service makes them. */
async function mishearing(words: TelephoneWords, count: number): Promise<JudgedTelephoneWords[]> {
  const cells = telephoneWordCells(1);
  const healthy = cells.filter(({ fault }) => fault === undefined);
  const faulty = cells.filter((cell) => cell.fault && telephoneExpectationOf(cell).outcome === 'failed');
  const progress = new Progress('Twilio, a tenth of the words misheard', count);
  const results: JudgedTelephoneWords[] = [];
  for (let n = 0; n < count; n++) {
    const list = n % 2 === 0 ? healthy : faulty;
    const cell: TelephoneWordCell = { ...list[(n >> 1) % list.length]!, seed: 1 + (n % 5) };
    const recogniser = await words.recogniser(cell.key, { wordErrors: WORD_ERRORS, seed: 1 });
    const result = await words.untilEnd(cell, recogniser);
    results.push(judgedTelephoneWords(cell, result));
    progress.advance();
  }
  progress.end();
  return results;
}

function cellTable(results: readonly JudgedTelephoneWords[]): string {
  const lines = [undefined, ...WORD_FAULT_NAMES].map((fault) => {
    const own = results.filter((result) => result.fault === fault);
    const failing = own.filter(({ expected }) => expected.outcome === 'failed').length;
    const right = own.filter(({ isRight }) => isRight).length;
    return row(fault ?? 'none', `${failing} of ${own.length}`, `${right} of ${own.length}`);
  });
  return [row('Fault', 'Must fail', 'Right'), row('---', '--:', '--:'), ...lines].join('\n');
}

function misheardTable(results: readonly JudgedTelephoneWords[]): string {
  const line = (name: string, own: readonly JudgedTelephoneWords[]) => {
    const count = (outcome: string) => own.filter((result) => result.outcome === outcome).length;
    return row(name, own.length, count('passed'), count('failed'), count('error') + count('invalid'));
  };
  const isHealthy = ({ fault }: JudgedTelephoneWords) => fault === undefined;
  return [
    row('Agent', 'Calls', 'Passed', 'Failed', 'Not counted'),
    row('---', '--:', '--:', '--:', '--:'),
    line('healthy', results.filter(isHealthy)),
    line(
      'faulty',
      results.filter((result) => !isHealthy(result)),
    ),
  ].join('\n');
}

/** Each check of the guide by each failure of the server: how it is decided for a healthy agent, and for one that violates it. */
async function measureFailures(failures: TelephoneFailures) {
  const kinds = Object.keys(RECOGNISER_FAILURES) as RecogniserFailure[];
  const progress = new Progress('Twilio, servers that fail', kinds.length * (failures.checks.length + 1));
  const mistakes: string[] = [];
  const cells = new Map<string, string[]>(failures.checks.map(({ name }) => [name, []]));
  for (const kind of kinds) {
    const healthy = await failures.call(kind);
    if (healthy.outcome === 'failed') mistakes.push(`healthy, ${kind}: ${healthy.reason}`);
    progress.advance();
    for (const { name } of failures.checks) {
      const faulty = await failures.call(kind, name);
      const decisions = [decisionOf(healthy, name), decisionOf(faulty, name)];
      cells.get(name)!.push(decisions.join(' / '));
      const isExact = kind !== 'none' || (decisions[0] === 'met' && decisions[1] === 'not met');
      if (faulty.outcome === 'passed' || !isExact)
        mistakes.push(`${name}, ${kind}: ${faulty.outcome}. ${faulty.reason}`);
      progress.advance();
    }
  }
  progress.end();
  const lines = failures.checks.map(({ type, name }) => row(`${type} (${name})`, ...cells.get(name)!));
  const table = [row('Check', ...kinds), row('---', ...kinds.map(() => '---')), ...lines].join('\n');
  return { mistakes, table };
}

/** @returns whether the limits hold */
async function measure(count: number, isWritten: boolean): Promise<boolean> {
  const calls = new VoiceCalls();
  const words = new TelephoneWords(calls);
  const failures = new TelephoneFailures(calls, GUIDE);
  try {
    const exact = await exactly(words);
    const rows = await telephoneRows(calls);
    const misheard = await mishearing(words, count);
    const failing = await measureFailures(failures);
    const healthy = misheard.filter(({ fault }) => fault === undefined);
    const blamed = healthy.filter(({ outcome }) => outcome === 'failed').length;
    const cleared = misheard.filter(({ fault, outcome }) => fault !== undefined && outcome === 'passed').length;
    const { high: upper } = wilsonInterval(healthy.length, blamed);
    for (const [where, results] of Object.entries({ evaluations: exact, 'rows of the matrix': rows.results })) {
      const { precision, recall } = voiceAccuracy(results);
      print(
        `Twilio, exact words, ${where}: ${results.length} calls, failed: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`,
      );
    }
    print(
      `Healthy agents failed: ${blamed} of ${healthy.length} (upper bound ${(100 * upper).toFixed(1)} %); faulty ones passed: ${cleared}`,
    );
    const tables = {
      'telephone-words': `${cellTable(exact)}\n\n${rows.table}`,
      'telephone-misheard': misheardTable(misheard),
      'telephone-failures': failing.table,
    };
    for (const table of Object.values(tables)) print(`\n${table}`);
    const wrong = [...exact, ...rows.results].filter(({ isRight }) => !isRight);
    for (const { found } of wrong) print(`WRONG  ${found}`);
    for (const { fault, key, found } of misheard.filter(isMistake))
      print(`MISHEARD  ${fault ?? 'healthy'} in ${key}: ${found}`);
    for (const mistake of failing.mistakes) print(`WRONG  ${mistake}`);
    if (isWritten) for (const [name, table] of Object.entries(tables)) await replaceTable(name, table);
    const isLimitKept = blamed <= MAX_FAILED * healthy.length && (count < CALLS || upper <= MAX_FAILED_UPPER);
    return wrong.length === 0 && failing.mistakes.length === 0 && cleared === 0 && isLimitKept;
  } finally {
    await words.close();
    await failures.close();
    await calls.close();
  }
}

const isMistake = ({ fault, outcome }: JudgedTelephoneWords): boolean => outcome === (fault ? 'passed' : 'failed');

const count = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? CALLS);
process.exitCode = (await measure(count, process.argv.includes('--write'))) ? 0 : 1;
