import { FRAME_MS, partitionPoint } from '../../../audio/index.js';
import type { Arrival, MediaTiming, Span, VoiceFacts } from '../facts/facts.js';
import { tenth } from '../facts/spans.js';
import { joinedStalls, stallWithin } from './stall-within.js';

interface Lag {
  readonly lagMs: number;
  /** The part of the lag that earlier audio caused. */
  readonly carriedMs: number;
}

const NONE: Lag = { lagMs: 0, carriedMs: 0 };

/** Lags by list of arrivals, which may be long. */
const known = new WeakMap<readonly Arrival[], readonly number[]>();

/**
 * Maximum error, caused by stalls of the tester, of an interval that ends at audio of the agent. A stall within the interval
 * delays what one side hears of the other. A lag of the playout that remains after the stall adds to that.
 */
export function stallAndLagWithin(facts: VoiceFacts, span: Span): number {
  const { lagMs, carriedMs } = lagOf(facts, span.endMs);
  // An interval that begins at the end of a sound is too short if that end was heard late.
  const isAfterSound = facts.agent.some(({ endMs }) => Math.abs(endMs - span.startMs) < 1);
  const beforeMs = isAfterSound ? lagAt(facts, span.startMs) : 0;
  return tenth(Math.max(lagMs, stallWithin(facts.timing, span) + carriedMs, beforeMs));
}

/**
 * Upper bound on how much stalls of the tester delayed the audio heard at this moment. An agent that streams without pause never
 * lets the buffer run empty: after one message that was read late, all of its audio is late.
 */
export const lagAt = (facts: VoiceFacts, atMs: number): number => lagOf(facts, atMs).lagMs;

/** The longest lag of any sound of the agent. */
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
  // Everything read in one batch, except its last message, may have arrived earlier. A stall may have delayed the agent's last one.
  return { lagMs, carriedMs: Math.max(0, Math.min(lagMs, atMs - last.arrivedMs)) };
}

/** Replays all arrivals, each at the earliest time at which it may have arrived. @returns their lags */
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

/** A stall begins at most one frame before the first late frame, and what it delayed is read at most one frame after it. */
const earliestArrival = (stalls: MediaTiming['stalls'], readMs: number): number =>
  stalls.reduce(
    (earliest, { at, ms }) =>
      readMs >= at - FRAME_MS && readMs <= at + ms + FRAME_MS ? Math.min(earliest, at - FRAME_MS) : earliest,
    readMs,
  );
