/**
 * Agents with a bed, background audio under their voice, on the virtual clock: no turn ends inside a line, every turn ends,
 * beginnings and ends lie within their uncertainty, healthy agents never fail and a late one never passes
 * (docs/decisions/0121).
 *
 * Usage: npm run accuracy:bed [-- --every N] [--bed NAME ...]
 */
import { parseArgs } from 'node:util';
import { percentile } from '../../libs/statistics/index.js';
import { type BedCell, bedCells, type BedResult } from './bed-cells.js';
import { BEDS } from './beds.js';
import { Threads } from './replay-threads.js';

const LIMITS = { p50: 60, p95: 200, most: 320 } as const;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function errorsOf(values: readonly number[]) {
  const sorted = values.map(Math.abs).sort((a, b) => a - b);
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
  const shown = ({ p50, p95, most }: typeof onset) =>
    `p50 ${p50.toFixed(0)} p95 ${p95.toFixed(0)} most ${most.toFixed(0)}`;
  print(
    `${name.padEnd(20)}${String(results.length).padStart(4)} calls ${String(count((r) => r.lines)).padStart(5)} lines: ` +
      `${falseEnds} false ends, ${unended} not ended, ${missed} missed; onset ${shown(onset)}; end ${shown(end)}; ` +
      `healthy: ${outcomes(false, 'passed')} passed, ${failed} failed; late: ${outcomes(true, 'failed')} failed, ${passed} passed`,
  );
  const isWithin = [onset, end].every(
    (one) => one.p50 <= LIMITS.p50 && one.p95 <= LIMITS.p95 && one.most <= LIMITS.most,
  );
  return falseEnds + unended + failed + passed === 0 && isWithin;
}

const { values } = parseArgs({
  options: { every: { type: 'string', default: '1' }, bed: { type: 'string', multiple: true, default: [...BEDS] } },
});
const every = Number(values.every);
if (!Number.isInteger(every) || every < 1) throw new Error('--every must be a whole number of at least 1');
const threads = await Threads.start<BedCell, BedResult>(new URL('./bed-thread.ts', import.meta.url));
const cells = bedCells().filter(({ bed }, index) => index % every === 0 && values.bed.includes(bed));
const results = await threads.runAll('Calls with a bed', cells);
await threads.close();
for (const bed of BEDS)
  report(
    bed,
    results.filter(({ cell }) => cell.bed === bed),
  );
const isMet = report('all', results);
for (const { cell, outcome, reason, falseEnds, unended, onsets, ends } of results) {
  const far = [...onsets, ...ends].filter((ms) => Math.abs(ms) > LIMITS.most).map(Math.round);
  const isWrong = outcome === (cell.fault ? 'passed' : 'failed') || falseEnds + unended + far.length > 0;
  const name = Object.values(cell).join(' / ');
  if (isWrong)
    print(
      `WRONG  ${name}: ${outcome}, ${falseEnds} false ends, ${unended} not ended, off by ${far.join(', ')}. ${reason}`,
    );
}
print(isMet ? 'The limits hold.' : 'The limits do not hold.');
process.exitCode = isMet ? 0 : 1;
