import { LEAD_IN } from '../hearing/agent-turns.js';
import type { AgentSound, VoiceFacts } from '../facts/facts.js';
import type { VoiceLatency } from '../facts/results.js';
import { isBackchannel } from './agent-backchannels.js';
import { speechAt, takesFloor } from './lines.js';
import { contains, lengthOf, tenth } from '../facts/spans.js';
import { stallWithin } from './stall-within.js';
import { isBesideBed, uncertaintyWithin } from './uncertainty.js';

/** Speech or keys of the caller, after which it waits for the agent. */
interface Floor {
  readonly turn: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly goesOn: boolean;
}

/**
 * Response latency as heard: from the end of the caller's speech or last key to the agent's next onset. Null if the agent was
 * sounding then, or had already answered.
 */
export const latenciesOf = (facts: VoiceFacts): VoiceLatency[] => floorWaitsOf(facts).map(({ latency }) => latency);

/** One wait of the caller for the agent. */
export interface FloorWait {
  readonly latency: VoiceLatency;
  /** End of the caller's speech or keys. */
  readonly sinceMs: number;
  /** Present if a bed was heard, which hides where words begin and end. */
  readonly isBesideBed?: true;
}

export function floorWaitsOf(given: VoiceFacts): FloorWait[] {
  const facts = withoutBackchannels(given);
  const floors = floorsOf(facts);
  return floors.flatMap((floor, index) => {
    // The caller had not finished, so it did not wait.
    if (floor.goesOn) return [];
    // A caller that thinks does not wait for the agent.
    const thought = given.thinking?.find(({ startMs }) => startMs >= floor.endMs);
    const until = Math.min(floors[index + 1]?.startMs ?? facts.end.atMs, thought?.startMs ?? Infinity);
    const latency = latencyOf(facts, floor, until);
    const wait = { startMs: floor.endMs, endMs: floor.endMs + (latency.heardMs ?? 0) };
    return [{ latency, sinceMs: floor.endMs, ...(isBesideBed(facts, wait) && { isBesideBed: true as const }) }];
  });
}

/** A backchannel of the agent answers nothing. */
function withoutBackchannels(facts: VoiceFacts): VoiceFacts {
  const isAnswer = (sound: AgentSound) =>
    !facts.caller.some((act) => act.type === 'say' && isBackchannel(facts, act, sound));
  return { ...facts, agent: facts.agent.filter(isAnswer) };
}

/** Joins a line with the keys that follow before the agent answers. */
function floorsOf(facts: VoiceFacts): Floor[] {
  const floors: Floor[] = [];
  for (const act of facts.caller.filter(takesFloor)) {
    const last = floors.at(-1);
    const { turn, startMs, endMs } = act;
    const hasAnswer = last && facts.agent.some((sound) => sound.startMs >= last.startMs && sound.startMs < startMs);
    if (act.type === 'press' && last && !hasAnswer) floors[floors.length - 1] = { ...last, endMs };
    else floors.push({ turn, startMs, endMs, goesOn: act.type === 'say' && act.goesOn === true });
  }
  return floors;
}

/** @param until when the caller stopped waiting */
function latencyOf(facts: VoiceFacts, { turn, startMs, endMs }: Floor, until: number): VoiceLatency {
  const { agent } = facts;
  const none = { turn, heardMs: null, firstByteMs: null, leadingSilenceMs: null, plusMinusMs: 0 };
  if (agent.some((sound) => contains(sound, endMs))) return { ...none, answered: true, note: 'already_speaking' };
  const over = speechAt(facts, startMs);
  // The caller spoke over the agent, which continued after a breath.
  if ((over.at(-1)?.endMs ?? 0) > endMs) return { ...none, answered: true, note: 'already_speaking' };
  // Interrupted speech may pause before it stops.
  const isEarly = agent.some((sound) => sound.startMs >= startMs && sound.startMs < endMs && !over.includes(sound));
  if (isEarly) return { ...none, answered: true, note: 'answered_early' };
  const answer = answerOf(facts, endMs, until);
  const answeredAt = answer?.first.startMs ?? until;
  const wait = { startMs: endMs, endMs: answeredAt };
  if (!answer) {
    const { plusMinusMs } = uncertaintyWithin(facts, wait, stallWithin(facts.timing, wait));
    return { ...none, heardMs: tenth(until - endMs), answered: false, plusMinusMs };
  }
  const { first, speech } = answer;
  return {
    turn,
    heardMs: tenth(first.startMs - endMs),
    firstByteMs: tenth(first.firstByteMs - endMs),
    leadingSilenceMs: tenth(first.startMs - first.firstByteMs),
    ...(speech !== first && { leadInMs: tenth(speech.startMs - first.startMs) }),
    answered: true,
    plusMinusMs: uncertaintyWithin(facts, wait).plusMinusMs,
  };
}

interface Answer {
  readonly first: AgentSound;
  /** The sound that makes this an answer; it may follow a short one that opens it. */
  readonly speech: AgentSound;
}

/** The agent's first answer within a span. Short sounds that nothing follows do not count. */
function answerOf({ agent, agentTurns }: VoiceFacts, startMs: number, endMs: number): Answer | undefined {
  let opening: AgentSound[] = [];
  for (const sound of agent.filter((one) => one.startMs >= startMs && one.startMs < endMs)) {
    const last = opening.at(-1);
    if (last && sound.startMs - last.endMs >= LEAD_IN.waitMs) opening = [];
    opening.push(sound);
    const first = opening[0]!;
    // The platform may report that the turn consists of a short sound.
    const isWhole = agentTurns.some((turn) => turn.endedBy === 'transport' && turn.startMs === first.startMs);
    if (isWhole) return { first, speech: first };
    if (lengthOf(opening) >= LEAD_IN.maxMs) return { first, speech: sound };
  }
  return undefined;
}
