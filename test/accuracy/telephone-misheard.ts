import {
  type JudgedTelephoneWords,
  telephoneExpectationOf,
  telephoneWordCells,
} from '../simulators/agent/testing/voice.js';
import { wilsonInterval } from '../../libs/statistics/index.js';
import { Threads } from './replay-threads.js';
import type { MisheardCell } from './telephone-thread.js';

/** With fewer calls, the bound says more about their number than about the verdicts. */
const ENOUGH_CALLS = 1_000;
/** Of the healthy agents that the server mishears, and its upper 95 % bound. */
const MAX_FAILED = 0.02;
const MAX_FAILED_UPPER = 0.03;

export const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

export const describeWords = ({ fault, key, found }: JudgedTelephoneWords): string =>
  `${fault ?? 'healthy'} in ${key}: ${found}`;

/** What one part of the calls over Twilio found. */
export interface Part {
  /** Markdown. */
  readonly table: string;
  readonly mistakes: readonly string[];
  readonly summary: string;
}

/** Healthy and faulty agents by turns, by a server that mishears a tenth of the words. */
export async function misheard(count: number): Promise<Part> {
  const all = telephoneWordCells(1);
  const kinds = [
    all.filter(({ fault }) => fault === undefined),
    all.filter((cell) => cell.fault && telephoneExpectationOf(cell).outcome === 'failed'),
  ];
  const cells = Array.from({ length: count }, (_, n): MisheardCell => {
    const list = kinds[n % 2]!;
    return { ...list[(n >> 1) % list.length]!, seed: 1 + (n % 5), errors: n };
  });
  const threads = await Threads.start<MisheardCell, JudgedTelephoneWords>(
    new URL('./telephone-thread.ts', import.meta.url),
  );
  try {
    return partOf(await threads.runAll('Twilio, a tenth of the words misheard', cells, (index) => index >> 1));
  } finally {
    await threads.close();
  }
}

function partOf(results: readonly JudgedTelephoneWords[]): Part {
  const healthy = results.filter(({ fault }) => fault === undefined);
  const faulty = results.filter(({ fault }) => fault !== undefined);
  const blamed = healthy.filter(({ outcome }) => outcome === 'failed');
  const cleared = faulty.filter(({ outcome }) => outcome === 'passed');
  const { high } = wilsonInterval(healthy.length, blamed.length);
  const isTooMany =
    blamed.length > MAX_FAILED * healthy.length || (results.length >= ENOUGH_CALLS && high > MAX_FAILED_UPPER);
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
    mistakes: [...(isTooMany ? blamed : []), ...cleared].map(describeWords),
    summary:
      `healthy agents failed: ${blamed.length} of ${healthy.length}, at most ${(100 * high).toFixed(1)} %; ` +
      `faulty ones passed: ${cleared.length} of ${faulty.length}`,
  };
}

/** @returns whether the limits hold */
export async function measureMisheard(count: number): Promise<boolean> {
  const { table, mistakes, summary } = await misheard(count);
  process.stdout.write(`\nTwilio by a recogniser that mishears a tenth of the words\n\n${table}\n\n${summary}\n`);
  for (const mistake of mistakes) process.stdout.write(`WRONG  ${mistake}\n`);
  return mistakes.length === 0;
}
