/**
 * Calls over Twilio, of which only the agent's sound is known, with a transcription server that listens: how they are judged by
 * an exact one, by one that mishears a tenth of the words, and by one that fails; and with a speech server that fails.
 *
 * Usage: node --import @swc-node/register/esm-register test/accuracy/telephone-words.ts [CALLS] [PART…] [--write], where PART
 * is one of exact, rows, misheard, failures and speech (all by default), and CALLS the number of misheard ones
 */
import { readFileSync } from 'node:fs';
import type { CallResult } from '../../libs/simulation/index.js';
import {
  decisionOf,
  judgedTelephoneWords,
  type JudgedTelephoneWords,
  RECOGNISER_FAILURES,
  type RecogniserFailure,
  SPEECH_FAILURES,
  type SpeechFailureName,
  SpeechFailures,
  speaks,
  TelephoneFailures,
  telephoneWordCells,
  TelephoneWords,
  voiceAccuracy,
  VoiceCalls,
  WORD_FAULT_NAMES,
} from '../simulators/agent/testing/voice.js';
import { replaceTable, writeRows } from './guide.js';
import { Progress } from './progress.js';
import { describeWords, misheard, type Part, row } from './telephone-misheard.js';
import { telephoneRows } from './telephone-rows.js';

const GUIDE = readFileSync(new URL('../../docs/guides/checks.md', import.meta.url), 'utf8');
const CALLS = 1_000;

const print = (line = ''): void => void process.stdout.write(`${line}\n`);

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
    mistakes: results.filter(({ isRight }) => !isRight).map(describeWords),
    summary: summaryOf('evaluations', results),
  };
}

async function rows(calls: VoiceCalls): Promise<Part> {
  const { results, table } = await telephoneRows(calls);
  const mistakes = results.filter(({ isRight }) => !isRight).map(({ found }) => found);
  return { table, mistakes, summary: summaryOf('rows of the matrix', results) };
}

/** How a check was decided for a healthy agent, and for one that violates it. */
interface Decided {
  readonly healthy: CallResult;
  readonly faulty: CallResult;
  readonly check: string;
}

interface Failing<Kind extends string> {
  readonly title: string;
  readonly kinds: readonly Kind[];
  readonly checks: TelephoneFailures['checks'];
  readonly call: (kind: Kind, fault?: string) => Promise<CallResult>;
  /** Whether a cell is as it must be, beside no verdict being wrong. */
  readonly isRight: (kind: Kind, decided: Decided) => boolean;
}

/** Each check of the guide by each failure of a server: how it is decided for a healthy agent, and for one that violates it. */
async function decided<Kind extends string>({ title, kinds, checks, call, isRight }: Failing<Kind>): Promise<Part> {
  const progress = new Progress(title, kinds.length * (checks.length + 1));
  const mistakes: string[] = [];
  const cells = new Map<string, string[]>(checks.map(({ name }) => [name, []]));
  for (const kind of kinds) {
    const healthy = await call(kind);
    if (healthy.outcome === 'failed') mistakes.push(`healthy, ${kind}: ${healthy.reason}`);
    progress.advance();
    for (const { name: check } of checks) {
      const faulty = await call(kind, check);
      const decisions = [decisionOf(healthy, check), decisionOf(faulty, check)];
      cells.get(check)!.push(decisions.join(' / '));
      const isWrong = faulty.outcome === 'passed' || decisions[1] === 'met' || decisions[0] === 'not met';
      if (isWrong || !isRight(kind, { healthy, faulty, check }))
        mistakes.push(`${check}, ${kind}: ${faulty.outcome}. ${faulty.reason}`);
      progress.advance();
    }
  }
  progress.end();
  const lines = checks.map(({ type, name }) => row(`${type} (${name})`, ...cells.get(name)!));
  return {
    table: [row('Check', ...kinds), row('---', ...kinds.map(() => '---')), ...lines].join('\n'),
    mistakes,
    summary: `${kinds.length} servers, ${checks.length} checks`,
  };
}

const isFound = ({ healthy, faulty, check }: Decided): boolean =>
  decisionOf(healthy, check) === 'met' && decisionOf(faulty, check) === 'not met';

async function failures(calls: VoiceCalls): Promise<Part> {
  const failing = new TelephoneFailures(calls, GUIDE);
  const part = await decided({
    title: 'Twilio, transcription servers that fail',
    kinds: Object.keys(RECOGNISER_FAILURES) as RecogniserFailure[],
    checks: failing.checks,
    call: (kind, fault) => failing.call(kind, fault),
    isRight: (kind, one) => kind !== 'none' || isFound(one),
  });
  await failing.close();
  return part;
}

/** The same with servers that speak for the caller: either they do, or the call is an error that names the server. */
async function speech(calls: VoiceCalls): Promise<Part> {
  const telephone = new TelephoneFailures(calls, GUIDE);
  const failing = new SpeechFailures(calls, telephone);
  let server = '';
  const part = await decided({
    title: 'Twilio, speech servers that fail',
    kinds: Object.keys(SPEECH_FAILURES) as SpeechFailureName[],
    checks: failing.checks,
    call: async (kind, fault) => {
      const { result, server: called } = await failing.call(kind, fault);
      server = called;
      return result;
    },
    isRight: (kind, one) =>
      speaks(kind)
        ? isFound(one)
        : one.faulty.outcome === 'error' &&
          one.faulty.failure?.code === 'speech_failed' &&
          one.faulty.failure.message.includes(server),
  });
  await telephone.close();
  return part;
}

function summaryOf(where: string, results: Parameters<typeof voiceAccuracy>[0]): string {
  const { precision, recall } = voiceAccuracy(results);
  return `${where}: ${results.length} calls, failed: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`;
}

const PARTS = { exact, rows, misheard: (_: VoiceCalls, count: number) => misheard(count), failures, speech };

async function main(given: readonly string[]): Promise<void> {
  const count = Number(given.find((argument) => /^\d+$/.test(argument)) ?? CALLS);
  const names = (Object.keys(PARTS) as (keyof typeof PARTS)[]).filter((name) => given.includes(name));
  const calls = new VoiceCalls();
  try {
    for (const name of names.length > 0 ? names : (Object.keys(PARTS) as (keyof typeof PARTS)[])) {
      const { table, mistakes, summary } = await PARTS[name](calls, count);
      print(`\nTwilio by a recogniser, ${name}\n\n${table}\n\n${summary}`);
      for (const mistake of mistakes) print(`WRONG  ${mistake}`);
      if (given.includes('--write')) await (name === 'misheard' ? replaceTable : writeRows)(`telephone-${name}`, table);
      if (mistakes.length > 0) process.exitCode = 1;
    }
  } finally {
    await calls.close();
  }
}

await main(process.argv.slice(2));
