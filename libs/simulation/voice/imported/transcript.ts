import type { Speaker } from '../../../evaluation-definition/index.js';
import { withoutMarks } from '../../../speech/index.js';
import type { Arrival, SaidFact, Span, SpokenWord, VoiceFacts } from '../facts/facts.js';
import { wordsIn } from '../words/item-words.js';
import { withItems } from './sent.js';

/** What one side said, with its times in milliseconds from the beginning of the recording. */
export interface TranscriptEntry extends Span {
  readonly speaker: Speaker;
  readonly text: string;
}

/** Times of transcripts are rough: so far from an entry, audio of its side is still its own, in milliseconds. */
export const ROUGH_MS = 1_000;

/** The entries of one side in the order of their times, none of them empty. */
export const entriesOf = (words: readonly TranscriptEntry[], side: Speaker): TranscriptEntry[] =>
  words
    .filter(({ speaker, text }) => speaker === side && text.trim() !== '')
    .sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs);

/** The entry with most of a sound, or the nearest one within a distance; undefined if there is none. */
export function entryAt(entries: readonly TranscriptEntry[], sound: Span, withinMs: number): number | undefined {
  let best: { readonly index: number; readonly distanceMs: number } | undefined;
  for (const [index, { startMs, endMs }] of entries.entries()) {
    // Negative: they have so much in common.
    const distanceMs = Math.max(startMs - sound.endMs, sound.startMs - endMs);
    const isNear = distanceMs < Math.max(withinMs, Number.EPSILON);
    if (isNear && (!best || distanceMs < best.distanceMs)) best = { index, distanceMs };
  }
  return best?.index;
}

/** Words of a text, spread over a time by their characters. */
export const spreadWords = (text: string, { startMs, endMs }: Span): SpokenWord[] => {
  const perCharacter = (endMs - startMs) / Math.max(1, text.length);
  return wordsIn(text).map(({ text: word, at }) => ({
    text: word,
    startMs: startMs + at * perCharacter,
    endMs: startMs + (at + word.length) * perCharacter,
  }));
};

/** The spans of the agent's audio to which its entries belong, in order and without overlap. */
export function itemsOf(entries: readonly TranscriptEntry[]): (Span & { readonly item: number })[] {
  const middleOf = (earlier: Span, later: Span) => (earlier.endMs + later.startMs) / 2;
  return entries.map((entry, index) => {
    const [before, after] = [entries[index - 1], entries[index + 1]];
    const startMs = before ? Math.max(entry.startMs - ROUGH_MS, middleOf(before, entry)) : entry.startMs - ROUGH_MS;
    const endMs = after ? Math.min(entry.endMs + ROUGH_MS, middleOf(entry, after)) : entry.endMs + ROUGH_MS;
    return { item: index + 1, startMs, endMs: Math.max(startMs, endMs) };
  });
}

/** What the agent said, without entries whose words a mark may hide. @param items spans of the same entries */
export const saidOf = (
  entries: readonly TranscriptEntry[],
  items: readonly (Span & { readonly item: number })[],
): SaidFact[] =>
  entries.flatMap((entry, index) => {
    const { item, endMs } = items[index]!;
    const { text, isPartial } = withoutMarks(entry.text.trim(), entry.endMs - entry.startMs);
    return text === '' || isPartial ? [] : { atMs: endMs, text, final: true, item };
  });

/** The words of the agent by a transcript, in the audio to which they belong. */
export function saidFrom(
  words: readonly TranscriptEntry[],
  arrivals: readonly Arrival[],
): Pick<VoiceFacts, 'said' | 'arrivals'> {
  const entries = entriesOf(words, 'agent');
  const items = itemsOf(entries);
  return { said: saidOf(entries, items), arrivals: withItems(arrivals, items) };
}
