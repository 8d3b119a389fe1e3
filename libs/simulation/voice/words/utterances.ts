import type { Span, VoiceFacts } from '../facts/facts.js';
import { wordsOfSounds } from '../conversation/generated-words.js';

/** What the agent was heard to say in one go. */
export interface AgentUtterance extends Span {
  /** Number of the caller's turn that it follows; 0 for the greeting. */
  readonly turn: number;
  /** Absent if its words are not known. */
  readonly item?: number;
  /** The words that were heard; null: it was audible, and its words are not known. */
  readonly text: string | null;
}

/** What the agent was heard to say, in order: words, and sound whose words are not known. */
export function utterancesOf(
  facts: Pick<VoiceFacts, 'agent' | 'said' | 'arrivals' | 'clears'> & { readonly end: { readonly atMs: number } },
): AgentUtterance[] {
  const words = wordsOfSounds(facts);
  return facts.agent.map(({ turn, startMs, endMs }, index) => {
    const { text, words: known } = words[index]!;
    return { turn, startMs, endMs, text: known === 'unknown' ? null : text };
  });
}
