import { canBeSaidIn, spokenWords } from '../../audio/index.js';

const REPETITIONS = 4;
const LONGEST_PHRASE = 30;

/** Whether a text cannot have been said: recognisers invent text where nothing is said, often repeating a phrase. */
export const isInvented = (text: string, durationMs: number): boolean =>
  !canBeSaidIn(text, durationMs) || repeatsPhrase(spokenWords(text));

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
