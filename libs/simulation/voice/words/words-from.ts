import type { SpokenWord, VoiceFacts } from '../facts/facts.js';
import type { VoiceResult, WordsFrom } from '../facts/results.js';
import { sourceOf, spokenItems, timedWords } from './utterances.js';

/** Words that are kept of one call; more than an hour of speech. */
export const MAX_WORDS = 20_000;

type Words = Pick<VoiceResult, 'words' | 'wordsOmitted' | 'wordsFrom'>;

/**
 * The words of both sides in the order of their times, and where those of the agent come from.
 * @param clean removes secrets from a text
 */
export function wordsOfCall(facts: VoiceFacts, clean: (text: string) => string): Words {
  const caller = facts.caller.flatMap((act) =>
    act.type === 'say' ? act.words.map((word) => ({ speaker: 'caller' as const, ...word })) : [],
  );
  const all = [...caller, ...timedWords(facts, clean)].sort((a, b) => a.startMs - b.startMs);
  const omitted = all.length - MAX_WORDS;
  return {
    words: all.slice(0, MAX_WORDS).map(rounded),
    ...(omitted > 0 && { wordsOmitted: omitted }),
    wordsFrom: wordsFrom(facts),
  };
}

function wordsFrom(facts: VoiceFacts): WordsFrom | null {
  const { recognised } = facts;
  const known = spokenItems(facts).filter(({ words }) => words);
  if (known.length === 0) return null;
  const isExact = known.every(({ hasOwnTimes }) => hasOwnTimes);
  const times = isExact ? 'word' : recognised ? 'utterance' : 'estimated';
  return { source: sourceOf(facts), model: recognised?.model ?? null, times };
}

const rounded = <T extends SpokenWord>(word: T): T => ({
  ...word,
  startMs: tenth(word.startMs),
  endMs: tenth(word.endMs),
});

const tenth = (ms: number): number => Math.round(ms * 10) / 10;
