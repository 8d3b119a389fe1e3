import type { VoiceFacts } from '../facts/facts.js';
import type { VoiceLatency } from '../facts/results.js';
import { speechAt, takesFloor } from './lines.js';
import { contains, tenth } from './spans.js';
import { type Uncertainty, uncertaintyWithin } from './uncertainty.js';

/** The caller speaks or presses keys, and then waits for the agent. */
interface Floor {
  readonly turn: number;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Response latency as heard: from the end of the caller's speech, or of its last key, to the agent's first onset after it.
 * Null if the agent was sounding at that moment or had answered before it.
 */
export const latenciesOf = (facts: VoiceFacts): VoiceLatency[] => floorWaitsOf(facts).map(({ latency }) => latency);

/** A wait of the caller for the agent. */
export interface FloorWait {
  readonly latency: VoiceLatency;
  /** End of the caller's speech or keys. */
  readonly sinceMs: number;
  readonly uncertainty: Uncertainty;
}

export function floorWaitsOf(facts: VoiceFacts): FloorWait[] {
  const floors = floorsOf(facts);
  return floors.map((floor, index) => {
    const until = floors[index + 1]?.startMs ?? facts.end.atMs;
    const latency = latencyOf(facts, floor, until);
    const heardAt = floor.endMs + (latency.heardMs ?? 0);
    const uncertainty = uncertaintyWithin(facts, { startMs: floor.endMs, endMs: heardAt });
    return { latency, sinceMs: floor.endMs, uncertainty };
  });
}

/** A line whose keys follow before the agent answers is one floor. */
function floorsOf(facts: VoiceFacts): Floor[] {
  const floors: Floor[] = [];
  for (const act of facts.caller.filter(takesFloor)) {
    const last = floors.at(-1);
    const { turn, startMs, endMs } = act;
    const hasAnswer = last && facts.agent.some((sound) => sound.startMs >= last.startMs && sound.startMs < startMs);
    if (act.type === 'press' && last && !hasAnswer) floors[floors.length - 1] = { ...last, endMs };
    else floors.push({ turn, startMs, endMs });
  }
  return floors;
}

/** @param until when the caller stopped waiting */
function latencyOf(facts: VoiceFacts, { turn, startMs, endMs }: Floor, until: number): VoiceLatency {
  const { agent } = facts;
  const none = { turn, heardMs: null, firstByteMs: null, leadingSilenceMs: null, plusMinusMs: 0 };
  if (agent.some((sound) => contains(sound, endMs))) return { ...none, answered: true, note: 'already_speaking' };
  const over = speechAt(facts, startMs);
  // The caller spoke over the agent, which went on after a breath.
  if ((over.at(-1)?.endMs ?? 0) > endMs) return { ...none, answered: true, note: 'already_speaking' };
  // Speech that the caller interrupted may have a pause before it stops.
  const isEarly = agent.some((sound) => sound.startMs >= startMs && sound.startMs < endMs && !over.includes(sound));
  if (isEarly) return { ...none, answered: true, note: 'answered_early' };
  const answer = agent.find((sound) => sound.startMs >= endMs && sound.startMs < until);
  const answeredAt = answer?.startMs ?? until;
  const { plusMinusMs } = uncertaintyWithin(facts, { startMs: endMs, endMs: answeredAt });
  if (!answer) return { ...none, heardMs: tenth(until - endMs), answered: false, plusMinusMs };
  return {
    turn,
    heardMs: tenth(answer.startMs - endMs),
    firstByteMs: tenth(answer.firstByteMs - endMs),
    leadingSilenceMs: tenth(answer.startMs - answer.firstByteMs),
    answered: true,
    plusMinusMs,
  };
}
