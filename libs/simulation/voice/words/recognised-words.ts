import type { RecognisedPiece, Span, VoiceFacts } from '../facts/facts.js';
import { contains, overlapOf } from '../facts/spans.js';
import type { WordFacts } from './item-audio.js';
import type { ItemWord, ItemWords } from './item-words.js';

/** Shorter sound holds no word. */
export const WORD_MS = 100;
/** A sound that was dropped or ended by the call stops so shortly before that. */
const CUT_MS = 250;

type Facts = WordFacts & Pick<VoiceFacts, 'agent'> & Partial<Pick<VoiceFacts, 'caller' | 'imported'>>;

/** The pieces of the agent's audio with the words that a recogniser understood. */
export const wordsOfPieces = (pieces: readonly RecognisedPiece[], facts: Facts): ItemWords[] =>
  pieces.map((piece, item) => {
    const { text, words: timed, startMs, endMs } = piece;
    const isDropped = isCutOff(piece, facts);
    const words = text === null ? undefined : (timed ?? spread(text, piece)).map(placed);
    return {
      item,
      played: { startMs, endMs },
      words: words && isDropped ? lastUncertain(words) : words,
      hasOwnTimes: timed !== undefined,
      isDropped,
    };
  });

/** Audible milliseconds of a sound with and without known words. What is too short for a word is not transcribed. */
export function recognisedMs(
  sound: Span,
  pieces: readonly RecognisedPiece[],
): readonly [known: number, unknown: number] {
  const ms = sound.endMs - sound.startMs;
  if (ms < WORD_MS) return [ms, 0];
  const whole = pieces.filter(({ text, isPartial }) => text !== null && !isPartial);
  const known = whole.reduce((sum, piece) => sum + overlapOf(sound, piece), 0);
  return [known, ms - known];
}

/** Whether the agent was cut off at the end of a piece: its last word was not spoken to its end. */
function isCutOff({ startMs, endMs }: Span, { agent, caller = [], clears, end, imported }: Facts): boolean {
  const isEnd = (ms: number) => ms <= endMs + CUT_MS && ms >= endMs - CUT_MS;
  const isOpen = agent.some((sound) => sound.endMs >= end.atMs && overlapOf(sound, { startMs, endMs }) > 0);
  // A recording does not show what was dropped, but that speech broke off while the caller spoke.
  const isBrokenOff =
    imported !== undefined &&
    agent.some((sound) => sound.breaksOff && isEnd(sound.endMs) && caller.some((act) => contains(act, sound.endMs)));
  const isCleared = clears.some(({ atMs, droppedMs }) => droppedMs > 0 && isEnd(atMs));
  return (isOpen && isEnd(end.atMs)) || isCleared || isBrokenOff;
}

const lastUncertain = (words: readonly ItemWord[]): ItemWord[] =>
  words.map((word, index) => (index === words.length - 1 ? { ...word, hearing: 'uncertain' } : word));

const placed = ({ text, startMs, endMs }: Span & { readonly text: string }, index: number): ItemWord => ({
  ...{ text, startMs, endMs },
  before: index === 0 ? '' : ' ',
  hearing: 'heard',
});

/** Words without times, spread over the piece by their characters. */
function spread(text: string, { startMs, endMs }: Span) {
  const perCharacter = (endMs - startMs) / text.length;
  return [...text.matchAll(/\S+/gu)].map(({ 0: word, index }) => ({
    text: word,
    startMs: startMs + index * perCharacter,
    endMs: startMs + (index + word.length) * perCharacter,
  }));
}
