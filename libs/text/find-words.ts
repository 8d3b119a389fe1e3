import { characterAt, characterBefore } from './normalise-text.js';

/**
 * Position of a text in another one at or after `from`, as whole words; -1 if there is none. Both must be normalised (`normaliseText`).
 *
 * - A word consists of letters, digits, marks and `_`. A text that begins or ends with another character, such as "$45"
 *   or "?", needs no boundary at that end.
 * - Digits joined by `.`, `,`, `:` or `'` are one number: "45" is not in "1,045", "45.50" or "7:45". So is a minus sign
 *   with the digits after it: "5" is not in "-5 degrees", but in "9-5".
 * - English "n't" belongs to its word: "can" is not in "can't", but "Rossi" is in "Rossi's".
 * - Scripts that write words without spaces, or attach particles to them, have boundaries everywhere: "東京" is in
 *   "東京駅".
 */
export function findWords(wanted: string, text: string, from = 0): number {
  if (wanted === '') return -1;
  for (let at = text.indexOf(wanted, from); at !== -1; at = text.indexOf(wanted, at + 1)) {
    if (isWordBoundary(text, at) && isWordBoundary(text, at + wanted.length)) return at;
  }
  return -1;
}

/** Whether no word or number of a normalised text continues across this position. */
export function isWordBoundary(text: string, position: number): boolean {
  const [before, after] = [characterBefore(text, position), characterAt(text, position)];
  if (before === '' || after === '') return true;
  if (MARK.test(after)) return false;
  const [endsWord, startsWord] = [WORD.test(before), WORD.test(after)];
  if (endsWord && startsWord) return SPACELESS.test(before) || SPACELESS.test(after);
  if (endsWord) return !continues(text, position);
  return !startsWord || !((NUMBER_JOINER.test(before) && isNumber(text, position - 1)) || hasSign(text, position));
}

const MARK = /\p{M}/u;
const WORD = /[\p{L}\p{N}\p{M}_]/u;
const SPACELESS =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Hang}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Mymr}]/u;
const NUMBER_JOINER = /[.,:']/;
const DIGIT = /\p{Nd}/u;
/** What stands before a minus sign. After anything else, such as a word or a closing bracket, it is a hyphen. */
const BEFORE_SIGN = /^$|[\s\p{Ps}\p{Pi}\p{Sc}"'=:]/u;
const NEGATION = /'t(?![\p{L}\p{N}\p{M}_])/uy;

/** Whether a word that ends before this position goes on after the character that follows it. */
function continues(text: string, position: number): boolean {
  NEGATION.lastIndex = position;
  return NEGATION.test(text) || (NUMBER_JOINER.test(text[position]!) && isNumber(text, position));
}

/** Whether the character at this position joins two digits. */
const isNumber = (text: string, position: number): boolean =>
  DIGIT.test(characterBefore(text, position)) && DIGIT.test(characterAt(text, position + 1));

/** Whether a number begins at this position and the character before it is its minus sign. */
const hasSign = (text: string, position: number): boolean =>
  text[position - 1] === '-' &&
  DIGIT.test(characterAt(text, position)) &&
  BEFORE_SIGN.test(characterBefore(text, position - 1));
