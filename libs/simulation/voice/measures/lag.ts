import { FRAME_MS, partitionPoint } from '../../../audio/index.js';
import type { Arrival, MediaTiming, Span, VoiceFacts } from '../facts/facts.js';
import { tenth } from '../facts/spans.js';
import { joinedStalls, stallWithin } from './stall-within.js';

interface Lag {
  readonly lagMs: number;
  /** The part of it that is not due to its own arrival, but to that of the audio before it. */
  readonly carriedMs: number;
}

const NONE: Lag = { lagMs: 0, carriedMs: 0 };

/** By arrivals, of which there are many. */
const known = new WeakMap<readonly Arrival[], readonly number[]>();

/**
 * The largest error that the tester causes in a time that ends at a sound of the agent. A stall in its span delays what the agent hears, or what is
 * heard of it; a lag of the playout that stays after the stall adds to that.
 */
export function stallAndLagWithin(facts: VoiceFacts, span: Span): number {
  const { lagMs, carriedMs } = lagOf(facts, span.endMs);
  // A span that begins with the end of a sound is too short if that was heard late.
  const isAfterSound = facts.agent.some(({ endMs }) => Math.abs(endMs - span.startMs) < 1);
  const beforeMs = isAfterSound ? lagAt(facts, span.startMs) : 0;
  return tenth(Math.max(lagMs, stallWithin(facts.timing, span) + carriedMs, beforeMs));
}

/**
 * By how much later than without the tester's stalls the agent's audio at a moment may have been heard. An agent that streams
 * without pause never lets the buffer run empty: after one message that was read late, all of its audio is late.
 */
export const lagAt = (facts: VoiceFacts, atMs: number): number => lagOf(facts, atMs).lagMs;

/** The largest lag of what was heard of the agent. */
export const longestLag = (facts: VoiceFacts): number =>
  facts.agent.reduce(
    (longest, { startMs, endMs }) => tenth(Math.max(longest, lagAt(facts, startMs), lagAt(facts, endMs))),
    0,
  );

function lagOf({ arrivals, timing, isEarliest }: VoiceFacts, atMs: number): Lag {
  if (isEarliest || timing.stalls.length === 0) return NONE;
  const next = partitionPoint(arrivals, ({ playedFromMs }) => playedFromMs <= atMs);
  const last = arrivals[next - 1];
  if (!last || atMs > last.playedToMs) return NONE;
  const lagMs = lagsOf(arrivals, timing)[next - 1]!;
  // What was read together may have waited but for its last part, which a stall that delayed the agent made late.
  return { lagMs, carriedMs: Math.max(0, Math.min(lagMs, atMs - last.arrivedMs)) };
}

/** Plays all arrivals again, each at the earliest moment at which it may have arrived. @returns their lags */
function lagsOf(arrivals: readonly Arrival[], timing: MediaTiming): readonly number[] {
  const before = known.get(arrivals);
  if (before) return before;
  const stalls = joinedStalls(timing.stalls);
  let earliestEndMs = 0;
  const lags = arrivals.map(({ arrivedMs, playedFromMs, playedToMs }) => {
    const lagMs = Math.max(0, playedFromMs - Math.max(earliestEndMs, earliestArrival(stalls, arrivedMs)));
    earliestEndMs = playedToMs - lagMs;
    return lagMs;
  });
  known.set(arrivals, lags);
  return lags;
}

/** A stall begins within the frame before the first one that was late, and what it delayed is read within the frame after it. */
const earliestArrival = (stalls: MediaTiming['stalls'], readMs: number): number =>
  stalls.reduce(
    (earliest, { at, ms }) =>
      readMs >= at - FRAME_MS && readMs <= at + ms + FRAME_MS ? Math.min(earliest, at - FRAME_MS) : earliest,
    readMs,
  );
