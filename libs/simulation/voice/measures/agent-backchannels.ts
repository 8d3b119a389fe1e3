import type { AgentSound, SayAct, VoiceFacts } from '../facts/facts.js';
import { CONTINUATION_MS } from './lines.js';
import { contains } from '../facts/spans.js';

/** A sound of at least this length is more than an "mm-hmm" (those of the caller last 300 to 450 ms). */
const MAX_BACKCHANNEL_MS = 700;
/** A sound that ends later than this after it arrived had been sent before: it was not broken off at its end. */
const SENT_LIVE_MS = 200;

/**
 * Whether a sound that began in a line of the caller is a backchannel of the agent: short, complete, while the caller goes on
 * speaking, and the agent does not go on after it.
 */
export function isBackchannel(facts: VoiceFacts, { parts, endMs: lineEndMs }: SayAct, sound: AgentSound): boolean {
  const { startMs, endMs } = sound;
  const next = facts.agent.find((other) => other.startMs >= endMs);
  const goesOn = next !== undefined && next.startMs - endMs < CONTINUATION_MS;
  return (
    parts.some((part) => contains(part, startMs)) &&
    endMs - startMs < MAX_BACKCHANNEL_MS &&
    endMs < lineEndMs &&
    !goesOn &&
    !isStopped(facts, sound)
  );
}

/** Whether the agent stopped before it had said everything. */
function isStopped({ arrivals, clears }: VoiceFacts, { startMs, endMs, breaksOff }: AgentSound): boolean {
  if (clears.some(({ atMs, droppedMs }) => droppedMs > 0 && atMs >= startMs && atMs < endMs + SENT_LIVE_MS))
    return true;
  const last = arrivals.findLast(({ playedFromMs }) => playedFromMs < endMs);
  return breaksOff === true && (!last || endMs - last.arrivedMs < SENT_LIVE_MS);
}
