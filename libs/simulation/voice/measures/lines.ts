import type { AgentSound, CallerAct, SayAct, VoiceFacts } from '../facts/facts.js';
import { contains } from '../facts/spans.js';

/** Two sounds of the agent belong to one speech if a shorter silence and no clear lie between them. */
export const CONTINUATION_MS = 700;

/** Lines and keys expect an answer; backchannels, noises and fillers do not. */
export const takesFloor = ({ type }: CallerAct): boolean => type === 'say' || type === 'press';

/** A line of the caller with the agent's sounds around it. */
export interface SpokenLine {
  readonly act: SayAct;
  /** The agent's sound at the onset of the line, with its continuations; empty if the agent was silent. */
  readonly over: readonly AgentSound[];
  /** Other sounds of the agent that began while the caller spoke or hesitated. */
  readonly during: readonly AgentSound[];
}

/** The caller's lines in order. */
export function spokenLines(facts: VoiceFacts): SpokenLine[] {
  return facts.caller.flatMap((act) => {
    if (act.type !== 'say') return [];
    const over = speechAt(facts, act.startMs);
    const during = facts.agent.filter(
      (sound) => sound.startMs >= act.startMs && sound.startMs < act.endMs && !over.includes(sound),
    );
    return [{ act, over, during }];
  });
}

/** The agent's sound at a given time, and the sounds that continue it. */
export function speechAt({ agent, clears }: Pick<VoiceFacts, 'agent' | 'clears'>, moment: number): AgentSound[] {
  const first = agent.findIndex((sound) => contains(sound, moment));
  if (first === -1) return [];
  const speech = [agent[first]!];
  for (const sound of agent.slice(first + 1)) {
    const { endMs } = speech.at(-1)!;
    const isCleared = clears.some(({ atMs }) => atMs >= moment && atMs <= sound.startMs);
    if (isCleared || sound.startMs - endMs >= CONTINUATION_MS) break;
    speech.push(sound);
  }
  return speech;
}
