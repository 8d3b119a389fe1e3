/** Fastest speech. Newsreaders speak 3 words and 15 letters a second. */
export const FASTEST_SPEECH = { wordsPerSecond: 8, lettersPerSecond: 30 } as const;

/** Milliseconds of a slow speaker. A letter of a script without cases may be a syllable or two, and a digit a word. */
const SLOW = [[/[\p{Lu}\p{Ll}]/gu, 150] as const, [/\p{Lo}/gu, 400] as const, [/\p{N}/gu, 600] as const];

/** The words of a text in lower case, without punctuation. */
export const spokenWords = (text: string): readonly string[] =>
  text.toLowerCase().match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? [];

/** Whether a text can be said within this many milliseconds. Digits count as letters. */
export function canBeSaidIn(text: string, ms: number): boolean {
  const { wordsPerSecond, lettersPerSecond } = FASTEST_SPEECH;
  const words = spokenWords(text);
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  // Rounds up, since some words are shorter than others.
  return words.length <= Math.ceil((wordsPerSecond * ms) / 1_000) && letters <= (lettersPerSecond * ms) / 1_000;
}

/** How long a slow speaker needs for a text, without pauses, in milliseconds. */
export const slowestSpeechMs = (text: string): number =>
  SLOW.reduce((sum, [pattern, ms]) => sum + ms * (text.match(pattern)?.length ?? 0), 0);
