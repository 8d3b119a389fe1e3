import type { SpeechEntry } from '../../timeline/timeline.js';
import type { AgentSound, Span, VoiceFacts } from '../facts/facts.js';

type Words = Pick<SpeechEntry, 'text' | 'words' | 'continues'>;

const UNKNOWN: Words = { text: '', words: 'unknown' };

interface SpokenItem extends Span {
  readonly text: string;
}

/**
 * The words of each sound of the agent, as its platform generated them. Known only for an item that was played as a whole: a
 * part of it that was dropped was not heard.
 */
export function wordsOfSounds(facts: Pick<VoiceFacts, 'agent' | 'said' | 'arrivals'>): Words[] {
  const items = playedItems(facts);
  const shown = new Set<SpokenItem>();
  return facts.agent.map((sound): Words => {
    const own = items.filter((item) => overlaps(item, sound));
    if (own.length === 0) return UNKNOWN;
    const begun = own.filter((item) => !shown.has(item));
    for (const item of begun) shown.add(item);
    // What goes on after a pause has its words in the entry before.
    if (begun.length === 0) return { text: '', continues: true };
    return { text: begun.map(({ text }) => text).join(' ') };
  });
}

function playedItems({ said, arrivals }: Pick<VoiceFacts, 'said' | 'arrivals'>): SpokenItem[] {
  return said
    .filter(({ final, item }) => final && item !== undefined)
    .flatMap(({ text, item }) => {
      const parts = arrivals.filter((arrival) => arrival.item === item);
      const [first, last] = [parts[0], parts.at(-1)];
      if (!first || !last) return [];
      return parts.some(({ isCut }) => isCut) ? [] : [{ text, startMs: first.playedFromMs, endMs: last.playedToMs }];
    });
}

const overlaps = (item: Span, sound: AgentSound): boolean => item.startMs < sound.endMs && item.endMs > sound.startMs;
