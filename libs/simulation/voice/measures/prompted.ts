import type { AgentSound, VoiceFacts } from '../facts/facts.js';

/** If the agent speaks this long after its own end, while the caller thinks, it speaks because it waits. */
const PROMPTED_MS = 1_500;

/**
 * Sounds of the agent that the caller's thinking caused, such as "Are you still there?", and the sounds that follow at once.
 */
export function promptedByWait({ agent, thinking = [] }: Pick<VoiceFacts, 'agent' | 'thinking'>): Set<AgentSound> {
  const prompted = new Set<AgentSound>();
  for (const [index, sound] of agent.entries()) {
    const before = agent[index - 1];
    // Without an earlier sound of its turn, it is a late answer.
    if (!before || before.turn !== sound.turn) continue;
    const sinceMs = sound.startMs - before.endMs;
    const isInThought = thinking.some(({ startMs, endMs }) => sound.startMs > startMs && sound.startMs <= endMs);
    if (prompted.has(before) ? sinceMs < PROMPTED_MS || isInThought : isInThought && sinceMs >= PROMPTED_MS) {
      prompted.add(sound);
    }
  }
  return prompted;
}
