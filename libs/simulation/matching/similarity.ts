import { wordsOf } from './phrases.js';

/** Words that callers add to a line or leave out when they repeat it. */
const FILLERS = new Set(
  'please hello hi hey so well um uh er okay ok again yes and just then now thanks thank you sorry oh actually really'.split(
    ' ',
  ),
);
/** Shorter lines are equal or different: one word may be all that matters. */
const MIN_WORDS = 6;
const MIN_SHARED = 0.8;
/** Words of a line that are compared. */
const MAX_WORDS = 200;

/** Whether two lines are the same except for fillers, or long and nearly the same. */
export function areSimilar(a: string, b: string): boolean {
  const [first, second] = [contentOf(a), contentOf(b)];
  if (first.join(' ') === second.join(' ')) return true;
  return Math.min(first.length, second.length) >= MIN_WORDS && sharedWords(first, second) >= MIN_SHARED;
}

/** The words of a line without fillers; all of them if there are no others. */
export function contentOf(text: string): readonly string[] {
  const words = wordsOf(text).slice(0, MAX_WORDS);
  const content = words.filter((word) => !FILLERS.has(word));
  return content.length > 0 ? content : words;
}

/** Share of words that both have, 0 to 1 (Dice coefficient). */
function sharedWords(a: readonly string[], b: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of b) {
    const count = left.get(word) ?? 0;
    if (count > 0) shared++;
    left.set(word, count - 1);
  }
  return (2 * shared) / (a.length + b.length);
}
