import { between, type CaseLooks, dispersionOf, passesOf, usedLooks, WINDOWS } from './fall.js';
import { alarmLevels, learning } from './falls.js';
import { Hypergeometric } from './hypergeometric.js';
import { normalQuantile, normalTail } from './normal.js';

/** Shares of passed calls to which a schedule may fall. */
const PASS_RATES = [0.95, 0.9, 0.8, 0.7, 0.5] as const;
/** Smaller falls are not listed. */
const LEAST_FALL = 0.03;
/** Nine of ten falls are found: the standard normal value that nine of ten exceed, without sign. */
const NINE_OF_TEN = 1.2815515655446004;

/** A fall of all cases together, and in how many looks nine of ten such falls are found; null: in more than 17. */
export interface FindableFall {
  readonly passRate: number;
  readonly looks: number | null;
}

/**
 * Which falls alarms find in a schedule, by the calls, share passed and dispersion of its own looks. A window finds a fall if
 * it lies in it as a whole, so that most falls are found earlier. Empty while the schedule is learning.
 * @param before position of the first look of a fall that is not over: what varies there is not the schedule
 */
export function findableFalls(cases: readonly CaseLooks[], looksAWeek: number, before = Infinity): FindableFall[] {
  const used = usedLooks(cases, 'passed').filter((at) => at < before);
  if (learning(cases) || used.length === 0) return [];
  const range = { from: 0, split: used.length, end: used.length };
  const columns = cases
    .map((one) => passesOf(one, used))
    .filter((column) => between(column, 0, used.length).counted > 0);
  const dispersion = dispersionOf(columns, range);
  const sides = columns.map((column) => between(column, 0, used.length));
  const [counted, failed] = [sum(sides.map((side) => side.counted)), sum(sides.map((side) => side.marked))];
  const level = alarmLevels(looksAWeek).passed / WINDOWS.length;
  // The p-value that the correction for dispersion turns into the level.
  const needed = normalTail(normalQuantile(level) * Math.sqrt(dispersion));
  return PASS_RATES.filter((passRate) => passRate <= 1 - failed / counted - LEAST_FALL).map((passRate) => {
    const looks = WINDOWS.find((window) => {
      const calls = Math.round((window * counted) / used.length);
      const deviation = Math.sqrt(dispersion * calls * passRate * (1 - passRate));
      const failures = Math.floor(calls * (1 - passRate) - NINE_OF_TEN * deviation + 0.5);
      return failures > 0 && Hypergeometric.of(calls, counted, failed + failures).atLeast(failures) <= needed;
    });
    return { passRate, looks: looks ?? null };
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
