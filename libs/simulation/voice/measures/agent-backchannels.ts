import { partitionPoint } from '../../../audio/index.js';
import type { AgentSound, SayAct, VoiceFacts } from '../facts/facts.js';
import { CONTINUATION_MS } from './lines.js';
import { contains } from '../facts/spans.js';

/** A sound of at least this length is more than an "mm-hmm". (The caller's last 300 to 450 ms.) */
const MAX_BACKCHANNEL_MS = 700;
/** If a sound ends later than this after its arrival, it was sent ahead, so it did not break off at its end. */
const SENT_LIVE_MS = 200;

/**
 * Whether a sound that began during a line of the caller is a backchannel of the agent: it is short and complete, the caller
 * goes on speaking, and the agent does not.
 */
export function isBackchannel(facts: VoiceFacts, { parts, endMs: lineEndMs }: SayAct, sound: AgentSound): boolean {
  const { startMs, endMs } = sound;
  const isShort = endMs - startMs < MAX_BACKCHANNEL_MS && endMs < lineEndMs;
  return isShort && parts.some((part) => contains(part, startMs)) && !goesOn(facts, endMs) && !isStopped(facts, sound);
}

/** Whether the agent speaks again at once. */
function goesOn({ agent }: VoiceFacts, endMs: number): boolean {
  const next = agent[partitionPoint(agent, ({ startMs }) => startMs < endMs)];
  return next !== undefined && next.startMs - endMs < CONTINUATION_MS;
}

/** Whether the agent stopped before it had said everything. */
function isStopped({ arrivals, clears }: VoiceFacts, { startMs, endMs, breaksOff }: AgentSound): boolean {
  const first = partitionPoint(clears, ({ atMs }) => atMs < startMs);
  for (let index = first; index < clears.length && clears[index]!.atMs < endMs + SENT_LIVE_MS; index++) {
    if (clears[index]!.droppedMs > 0) return true;
  }
  const last = arrivals[partitionPoint(arrivals, ({ playedFromMs }) => playedFromMs < endMs) - 1];
  return breaksOff === true && (!last || endMs - last.arrivedMs < SENT_LIVE_MS);
}
