/**
 * Calls over Twilio, of which only the agent's sound is known, with a transcription server that listens: how they are judged by
 * an exact one, by one that mishears a tenth of the words, and by one that fails.
 *
 * Usage: node --import @swc-node/register/esm-register test/accuracy/telephone-words.ts [CALLS] [PART…] [--write], where PART
 * is one of exact, rows, misheard and failures (all by default), and CALLS the number of misheard ones
 */
import { readFileSync } from 'node:fs';
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
import { wilsonInterval } from '../../libs/statistics/index.js';
import { replaceTable } from './guide.js';
import { Progress } from './progress.js';
import { telephoneRows } from './telephone-rows.js';

const GUIDE = readFileSync(new URL('../../docs/guides/checks.md', import.meta.url), 'utf8');
const CALLS = 1_000;
const WORD_ERRORS = 0.1;
/** Of the healthy agents that the server mishears, and its upper 95 % bound. */
const MAX_FAILED = 0.02;
const MAX_FAILED_UPPER = 0.03;

const print = (line = ''): void => void process.stdout.write(`${line}\n`);
const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** What one part found. */
interface Part {
  /** Markdown. */
  readonly table: string;
  readonly mistakes: readonly string[];
  readonly summary: string;
}

/** Every evaluation with every agent, by a server that hears exactly. */
async function exact(calls: VoiceCalls): Promise<Part> {
  const words = new TelephoneWords(calls);
  const cells = telephoneWordCells(1);
  const progress = new Progress('Twilio, exact words', cells.length);
  const results: JudgedTelephoneWords[] = [];
  for (const cell of cells) {
    results.push(judgedTelephoneWords(cell, await words.call(cell, await words.recogniser(cell.key))));
    progress.advance();
  }
  progress.end();
  await words.close();
  const lines = [undefined, ...WORD_FAULT_NAMES].map((fault) => {
    const own = results.filter((result) => result.fault === fault);
    const failing = own.filter(({ expected }) => expected.outcome === 'failed').length;
    return row(
      fault ?? 'none',
      `${failing} of ${own.length}`,
      `${own.filter(({ isRight }) => isRight).length} of ${own.length}`,
    );
  });
  return {
    table: [row('Fault', 'Must fail', 'Right'), row('---', '--:', '--:'), ...lines].join('\n'),
    mistakes: results.filter(({ isRight }) => !isRight).map(describe),
    summary: summaryOf('evaluations', results),
  };
}

async function rows(calls: VoiceCalls): Promise<Part> {
  const { results, table } = await telephoneRows(calls);
  const mistakes = results.filter(({ isRight }) => !isRight).map(({ found }) => found);
  return { table, mistakes, summary: summaryOf('rows of the matrix', results) };
}

/** Healthy and faulty agents by turns, with the attempts that the service makes. */
async function misheard(calls: VoiceCalls, count: number): Promise<Part> {
  const words = new TelephoneWords(calls);
  const cells = telephoneWordCells(1);
  const kinds = [
    cells.filter(({ fault }) => fault === undefined),
    cells.filter((cell) => cell.fault && telephoneExpectationOf(cell).outcome === 'failed'),
  ];
  const progress = new Progress('Twilio, a tenth of the words misheard', count);
  const results: JudgedTelephoneWords[] = [];
  for (let n = 0; n < count; n++) {
    const list = kinds[n % 2]!;
    const cell: TelephoneWordCell = { ...list[(n >> 1) % list.length]!, seed: 1 + (n % 5) };
    const recogniser = await words.recogniser(cell.key, { wordErrors: WORD_ERRORS, seed: n });
    results.push(judgedTelephoneWords(cell, await words.untilEnd(cell, recogniser)));
    progress.advance();
  }
  progress.end();
  await words.close();
  const healthy = results.filter(({ fault }) => fault === undefined);
  const faulty = results.filter(({ fault }) => fault !== undefined);
  const blamed = healthy.filter(({ outcome }) => outcome === 'failed');
  const cleared = faulty.filter(({ outcome }) => outcome === 'passed');
  const { high } = wilsonInterval(healthy.length, blamed.length);
  const isTooMany = blamed.length > MAX_FAILED * healthy.length || (count >= CALLS && high > MAX_FAILED_UPPER);
  const line = (name: string, own: readonly JudgedTelephoneWords[]) => {
    const number = (outcome: string) => own.filter((result) => result.outcome === outcome).length;
    return row(name, own.length, number('passed'), number('failed'), number('error') + number('invalid'));
  };
  return {
    table: [
      row('Agent', 'Calls', 'Passed', 'Failed', 'Not counted'),
      row('---', '--:', '--:', '--:', '--:'),
      line('healthy', healthy),
      line('faulty', faulty),
    ].join('\n'),
    mistakes: [...(isTooMany ? blamed : []), ...cleared].map(describe),
    summary: `healthy agents failed: ${blamed.length} of ${healthy.length}, at most ${(100 * high).toFixed(1)} %; faulty ones passed: ${cleared.length} of ${faulty.length}`,
  };
}

/** Each check of the guide by each failure of the server: how it is decided for a healthy agent, and for one that violates it. */
async function failures(calls: VoiceCalls): Promise<Part> {
  const failing = new TelephoneFailures(calls, GUIDE);
  const kinds = Object.keys(RECOGNISER_FAILURES) as RecogniserFailure[];
  const progress = new Progress('Twilio, servers that fail', kinds.length * (failing.checks.length + 1));
  const mistakes: string[] = [];
  const cells = new Map<string, string[]>(failing.checks.map(({ name }) => [name, []]));
  for (const kind of kinds) {
    const healthy = await failing.call(kind);
    if (healthy.outcome === 'failed') mistakes.push(`healthy, ${kind}: ${healthy.reason}`);
    progress.advance();
    for (const { name } of failing.checks) {
      const faulty = await failing.call(kind, name);
      const decisions = [decisionOf(healthy, name), decisionOf(faulty, name)];
      cells.get(name)!.push(decisions.join(' / '));
      const isUnseen = kind === 'none' && decisions.join() !== 'met,not met';
      if (faulty.outcome === 'passed' || decisions[1] === 'met' || decisions[0] === 'not met' || isUnseen)
        mistakes.push(`${name}, ${kind}: ${faulty.outcome}. ${faulty.reason}`);
      progress.advance();
    }
  }
  progress.end();
  await failing.close();
  const lines = failing.checks.map(({ type, name }) => row(`${type} (${name})`, ...cells.get(name)!));
  return {
    table: [row('Check', ...kinds), row('---', ...kinds.map(() => '---')), ...lines].join('\n'),
    mistakes,
    summary: `${kinds.length} servers, ${failing.checks.length} checks`,
  };
}

function summaryOf(where: string, results: Parameters<typeof voiceAccuracy>[0]): string {
  const { precision, recall } = voiceAccuracy(results);
  return `${where}: ${results.length} calls, failed: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`;
}

const describe = ({ fault, key, found }: JudgedTelephoneWords): string => `${fault ?? 'healthy'} in ${key}: ${found}`;

const PARTS = { exact, rows, misheard, failures };

async function main(given: readonly string[]): Promise<void> {
  const count = Number(given.find((argument) => /^\d+$/.test(argument)) ?? CALLS);
  const names = (Object.keys(PARTS) as (keyof typeof PARTS)[]).filter((name) => given.includes(name));
  const calls = new VoiceCalls();
  try {
    for (const name of names.length > 0 ? names : (Object.keys(PARTS) as (keyof typeof PARTS)[])) {
      const { table, mistakes, summary } = await PARTS[name](calls, count);
      print(`\nTwilio by a recogniser, ${name}\n\n${table}\n\n${summary}`);
      for (const mistake of mistakes) print(`WRONG  ${mistake}`);
      if (given.includes('--write')) await replaceTable(`telephone-${name}`, table);
      if (mistakes.length > 0) process.exitCode = 1;
    }
  } finally {
    await calls.close();
  }
}

await main(process.argv.slice(2));
