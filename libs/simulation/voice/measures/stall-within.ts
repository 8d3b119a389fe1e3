import { joined } from '../../time/stalls.js';
import type { MediaTiming, Span } from '../facts/facts.js';
import { overlapOf, tenth } from '../facts/spans.js';

type Stalls = MediaTiming['stalls'];

/** Of each call once. */
const known = new WeakMap<Stalls, Stalls>();

/** The stalls of the tester; those between which nothing may have been read are one. */
export function joinedStalls(stalls: Stalls): Stalls {
  let all = known.get(stalls);
  if (!all) {
    const spans = joined(stalls.map(({ at, ms }) => ({ start: at, end: at + ms })));
    known.set(stalls, (all = spans.map(({ start, end }) => ({ at: start, ms: tenth(end - start) }))));
  }
  return all;
}

/** How long the tester stalled within a span: times measured in it may be off by as much. */
export const stallWithin = ({ stalls }: MediaTiming, span: Span): number =>
  tenth(joinedStalls(stalls).reduce((sum, { at, ms }) => sum + overlapOf({ startMs: at, endMs: at + ms }, span), 0));
