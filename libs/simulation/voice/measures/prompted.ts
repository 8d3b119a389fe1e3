import type { AgentSound, VoiceFacts } from '../facts/facts.js';

/** An agent that speaks so long after its own end, while the caller thinks, speaks because it waits. */
const PROMPTED_MS = 1_500;

/**
 * Sounds of the agent that began while the caller thought, such as "Are you still there?", with what follows them at once.
 * The caller's thinking caused them.
 */
export function promptedByWait({ agent, thinking = [] }: Pick<VoiceFacts, 'agent' | 'thinking'>): Set<AgentSound> {
  const prompted = new Set<AgentSound>();
  for (const [index, sound] of agent.entries()) {
    const before = agent[index - 1];
    // Without a sound of its turn before, it is a late answer.
    if (!before || before.turn !== sound.turn) continue;
    const sinceMs = sound.startMs - before.endMs;
    const isInThought = thinking.some(({ startMs, endMs }) => sound.startMs > startMs && sound.startMs <= endMs);
    if (prompted.has(before) ? sinceMs < PROMPTED_MS || isInThought : isInThought && sinceMs >= PROMPTED_MS) {
      prompted.add(sound);
    }
  }
  return prompted;
}
