import { worstStall } from '../../time/stalls.js';
import type { MediaTiming, Span } from '../facts/facts.js';

/** The largest part of a stall of the tester within a span: times measured in it may be off by as much. */
export const stallWithin = ({ stalls }: MediaTiming, { startMs, endMs }: Span): number =>
  worstStall(
    stalls.map(({ at, ms }) => ({ start: at, end: at + ms })),
    startMs,
    endMs,
  );
