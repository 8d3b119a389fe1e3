/** Nobody speaks faster for longer than a moment. */
const WORDS_PER_SECOND = 8;
const REPETITIONS = 4;
const LONGEST_PHRASE = 30;

/** Whether a text cannot have been said: recognisers invent text where nothing is said, often repeating a phrase. */
export function isInvented(text: string, durationMs: number): boolean {
  const words = text.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? [];
  return words.length > (WORDS_PER_SECOND * durationMs) / 1_000 || repeatsPhrase(words);
}

/** A single word may be said four times in a row, such as a digit. */
function repeatsPhrase(words: readonly string[]): boolean {
  for (let length = 2; length <= LONGEST_PHRASE && length * REPETITIONS <= words.length; length++) {
    let same = 0;
    for (let at = length; at < words.length; at++) {
      same = words[at] === words[at - length] ? same + 1 : 0;
      if (same >= length * (REPETITIONS - 1) && isPhrase(words.slice(at - length, at))) return true;
    }
  }
  return false;
}

const isPhrase = (words: readonly string[]): boolean => new Set(words).size > 1;
