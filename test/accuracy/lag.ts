import {
  DELIVERY_STYLES,
  lagCells,
  type LagResult,
  measureLag,
  VoiceCalls,
} from '../simulators/agent/testing/voice.js';
import { replaceTable } from './guide.js';
import { Progress } from './progress.js';

/** Stalls of each agent, one in each call. */
const MOMENTS = 20;

const print = (line = ''): void => void process.stdout.write(`${line}\n`);
const row = (texts: readonly (string | number)[]): string => `| ${texts.join(' | ')} |`;

/** Calls in which the tester stalls, of agents that send their audio in five styles. @returns whether the limits hold */
export async function measureLags(isWritten: boolean): Promise<boolean> {
  const calls = new VoiceCalls();
  try {
    await calls.prepare();
    const cells = lagCells();
    const progress = new Progress('Voice, stalls of the tester', cells.length);
    const results: LagResult[] = [];
    for (const cell of cells) {
      results.push(await measureLag(calls, cell, MOMENTS));
      progress.advance();
    }
    progress.end();
    const table = tableOf(results);
    print(`\nStalls of the tester\n\n${table}`);
    for (const { cell, otherwise, beyond } of results) {
      const name = `${cell.fault ?? 'healthy'} in ${cell.key}, ${cell.style}`;
      for (const one of [...otherwise, ...beyond]) print(`WRONG  ${name}: ${one}`);
    }
    if (isWritten) await replaceTable('lag', table);
    return results.every(({ otherwise, beyond }) => otherwise.length + beyond.length === 0);
  } finally {
    await calls.close();
  }
}

function tableOf(results: readonly LagResult[]): string {
  const rows = DELIVERY_STYLES.map((style) => {
    const of = results.filter(({ cell }) => cell.style === style);
    const sum = (count: (result: LagResult) => number) => of.reduce((total, one) => total + count(one), 0);
    const [values, beyond] = [sum((one) => one.values), sum((one) => one.beyond.length)];
    return row([
      style,
      sum((one) => one.calls),
      sum((one) => one.same),
      sum((one) => one.repeated),
      sum((one) => one.otherwise.length),
      `${values - beyond} of ${values}`,
    ]);
  });
  const head = ['Audio is sent', 'Calls', 'Same verdict', 'Repeated', 'Other verdict', 'Times within their ±'];
  return [row(head), '| --- | --: | --: | --: | --: | --: |', ...rows].join('\n');
}
