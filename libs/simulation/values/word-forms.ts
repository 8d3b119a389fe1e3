/** Texts of words, which no table reads. */

const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', '&': ' and ' };

/** Without accents, in small letters. */
const folded = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[ßæœøłđ&]/g, (letter) => LETTERS[letter]!)
    .normalize('NFD')
    .replace(/\p{M}|['’]/gu, '');

const wordsOf = (text: string): readonly string[] => folded(text).match(/\p{L}+|\p{N}+/gu) ?? [];

/** Whether two texts may be forms of one value as words: accents, abbreviations, initials, more words, another script. */
export function areRelatedWords(a: string, b: string): boolean {
  const [one, other] = [wordsOf(a), wordsOf(b)];
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (short.length === 0) return long.length > 0;
  if (isLatin(one) !== isLatin(other)) return true;
  if (withoutUmlauts(one) === withoutUmlauts(other) || isInitials(short, long)) return true;
  return short.every((word) => long.some((each) => each === word || isAbbreviation(word, each)));
}

/** Whether two texts have the same words, and other figures: "Room 12" and "Room 14". */
export function haveOtherFigures(a: string, b: string): boolean {
  const [figures, others] = [figuresOf(a), figuresOf(b)];
  if (figures.length === 0 || figures.length !== others.length || figures.join(' ') === others.join(' ')) return false;
  const [words, otherWords] = [a.replace(/\p{N}+/gu, ' '), b.replace(/\p{N}+/gu, ' ')];
  return wordsOf(words).length === wordsOf(otherWords).length && areRelatedWords(words, otherWords);
}

const figuresOf = (text: string): readonly string[] => text.match(/\p{N}+/gu) ?? [];

/** Letters and figures in one piece have one form: QX7, BV-1042. */
export const isCode = (text: string): boolean => /^(?=\S*\d)(?=\S*\p{L})\S+$/u.test(text);

const isLatin = (words: readonly string[]): boolean => words.every((word) => /^[\p{Script=Latin}\p{N}]+$/u.test(word));

/** "Mueller" and "Müller", "New-York" and "New York". */
const withoutUmlauts = (words: readonly string[]): string => words.join('').replace(/(?<=[aou])e/g, '');

const isInitials = (short: readonly string[], long: readonly string[]): boolean =>
  short.length === 1 && long.length > 1 && short[0] === long.map((word) => word[0]).join('');

/** St and Street, Apt and apartment, J and John. */
function isAbbreviation(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length > 3 || long.length < 2 * short.length || short[0] !== long[0]) return false;
  let found = 0;
  for (const letter of long) if (letter === short[found]) found++;
  return found === short.length;
}
