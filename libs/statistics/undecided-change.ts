import type { PassCounts, SharedCase } from './comparison.js';
import { count } from '../text/index.js';

/**
 * How a case changed whose calls are too few to exclude chance, such as `0/1 → 1/1, now passes (one call each: 3 would exclude
 * chance)`; undefined if the same share of its calls passed.
 * @param callsNeeded that of the case's difference: all calls of one run and none of the other would be enough
 */
export function undecidedChange({ current, baseline }: SharedCase, callsNeeded: number): string | undefined {
  const [before, now] = [shareOf(baseline), shareOf(current)];
  if (before === undefined || now === undefined || before === now) return undefined;
  const change = now === 1 ? 'now passes' : now === 0 ? 'now fails' : `passes ${now > before ? 'more' : 'less'} often`;
  const calls =
    current.counted === baseline.counted
      ? `${current.counted === 1 ? 'one call' : count(current.counted, 'call')} each`
      : `${baseline.counted} and ${count(current.counted, 'call')}`;
  const isWhole = Math.abs(now - before) === 1;
  const needed = isWhole ? `${callsNeeded} would exclude chance` : `to exclude chance takes at least ${callsNeeded}`;
  return `${fraction(baseline)} → ${fraction(current)}, ${change} (${calls}: ${needed})`;
}

const shareOf = ({ passed, counted }: PassCounts): number | undefined => (counted > 0 ? passed / counted : undefined);

const fraction = ({ passed, counted }: PassCounts): string => `${passed}/${counted}`;
