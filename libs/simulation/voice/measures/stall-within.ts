import { joined } from '../../time/stalls.js';
import type { MediaTiming, Span } from '../facts/facts.js';
import { overlapOf, tenth } from '../facts/spans.js';

type Stalls = MediaTiming['stalls'];

/** Joined stalls by list, computed once per call. */
const known = new WeakMap<Stalls, Stalls>();

/** Stalls of the tester. Stalls between which the tester may have read nothing are joined. */
export function joinedStalls(stalls: Stalls): Stalls {
  let all = known.get(stalls);
  if (!all) {
    const spans = joined(stalls.map(({ at, ms }) => ({ start: at, end: at + ms })));
    known.set(stalls, (all = spans.map(({ start, end }) => ({ at: start, ms: tenth(end - start) }))));
  }
  return all;
}

/** How long the tester stalled, or the line lost sound, within a span. Times measured there may be off by as much. */
export const stallWithin = ({ stalls, lineGaps = [] }: Pick<MediaTiming, 'stalls' | 'lineGaps'>, span: Span): number =>
  tenth(
    [...joinedStalls(stalls), ...lineGaps].reduce(
      (sum, { at, ms }) => sum + overlapOf({ startMs: at, endMs: at + ms }, span),
      0,
    ),
  );
