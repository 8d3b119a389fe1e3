/**
 * Agents with a bed, background audio under their voice, on the virtual clock: no turn ends inside a line, every turn ends,
 * beginnings and ends lie within their uncertainty, healthy agents never fail and a late one never passes
 * (docs/decisions/0121 and 0140).
 *
 * Usage: npm run accuracy:bed [-- --every N] [--bed NAME ...] [--take N], where each take has other parts of the beds
 */
import { parseArgs } from 'node:util';
import { percentile } from '../../libs/statistics/index.js';
import { type BedCell, bedCells, type BedResult, type Difference } from './bed-cells.js';
import { BEDS } from './beds.js';
import { Threads } from './replay-threads.js';

const LIMITS = { p50: 60, p95: 200 } as const;
/** A bed is heard in the silence at the edges of the agent's audio, if the bed comes with it. */
const EDGE_MS = 80;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const isBeyond = ({ ms, plusMinusMs }: Difference): boolean => Math.abs(ms) > plusMinusMs + EDGE_MS;

function errorsOf(values: readonly Difference[]) {
  const sorted = values.map(({ ms }) => Math.abs(ms)).sort((a, b) => a - b);
  return { p50: percentile(sorted, 50) ?? 0, p95: percentile(sorted, 95) ?? 0, most: sorted.at(-1) ?? 0 };
}

/** @returns whether the limits hold */
function report(name: string, results: readonly BedResult[]): boolean {
  const onset = errorsOf(results.flatMap(({ onsets }) => onsets));
  const end = errorsOf(results.flatMap(({ ends }) => ends));
  const count = (of: (result: BedResult) => number) => sum(results.map(of));
  const outcomes = (isFaulty: boolean, outcome: string) =>
    results.filter(({ cell, ...result }) => (cell.fault !== undefined) === isFaulty && result.outcome === outcome)
      .length;
  const [falseEnds, unended, missed] = [count((r) => r.falseEnds), count((r) => r.unended), count((r) => r.missed)];
  const [failed, passed] = [outcomes(false, 'failed'), outcomes(true, 'passed')];
  const beyond = results.flatMap(({ onsets, ends }) => [...onsets, ...ends]).filter(isBeyond).length;
  const shown = ({ p50, p95, most }: typeof onset) =>
    `p50 ${p50.toFixed(0)} p95 ${p95.toFixed(0)} most ${most.toFixed(0)}`;
  print(
    `${name.padEnd(20)}${String(results.length).padStart(4)} calls ${String(count((r) => r.lines)).padStart(5)} lines: ` +
      `${falseEnds} false ends, ${unended} not ended, ${missed} missed; onset ${shown(onset)}; end ${shown(end)}; ` +
      `${beyond} beyond ±; ` +
      `healthy: ${outcomes(false, 'passed')} passed, ${failed} failed; late: ${outcomes(true, 'failed')} failed, ${passed} passed`,
  );
  const isWithin = [onset, end].every((one) => one.p50 <= LIMITS.p50 && one.p95 <= LIMITS.p95);
  return falseEnds + unended + failed + passed + beyond === 0 && isWithin;
}

const { values } = parseArgs({
  options: {
    every: { type: 'string', default: '1' },
    take: { type: 'string', default: '1' },
    bed: { type: 'string', multiple: true, default: [...BEDS] },
  },
});
const wholeNumber = (option: 'every' | 'take'): number => {
  const number = Number(values[option]);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new Error(`--${option} must be a whole number of at least 1`);
};
const every = wholeNumber('every');
const threads = await Threads.start<BedCell, BedResult>(new URL('./bed-thread.ts', import.meta.url));
const cells = bedCells(wholeNumber('take')).filter(({ bed }, index) => index % every === 0 && values.bed.includes(bed));
const results = await threads.runAll('Calls with a bed', cells);
await threads.close();
for (const bed of BEDS)
  report(
    bed,
    results.filter(({ cell }) => cell.bed === bed),
  );
const isMet = report('all', results);
for (const { cell, outcome, reason, falseEnds, unended, onsets, ends } of results) {
  const far = [...onsets, ...ends]
    .filter(isBeyond)
    .map(({ ms, plusMinusMs }) => `${Math.round(ms)} ± ${Math.round(plusMinusMs)}`);
  const isWrong = outcome === (cell.fault ? 'passed' : 'failed') || falseEnds + unended + far.length > 0;
  const name = Object.values(cell).join(' / ');
  if (isWrong)
    print(
      `WRONG  ${name}: ${outcome}, ${falseEnds} false ends, ${unended} not ended, off by ${far.join(', ')}. ${reason}`,
    );
}
print(isMet ? 'The limits hold.' : 'The limits do not hold.');
process.exitCode = isMet ? 0 : 1;
