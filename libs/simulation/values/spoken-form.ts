import { wordDifferences } from '../timeline/word-differences.js';
import { areSameValues } from './same-value.js';

/** What one of two texts has in place of what the other has. */
export interface SpokenDifference {
  readonly first: string;
  readonly second: string;
}

/** Where two texts are not the same when they are spoken: "7:30 pm" and "seven thirty p m" are. */
export const spokenDifferences = (first: string, second: string): SpokenDifference[] =>
  wordDifferences(first, second)
    .map((difference) => ({ first: first.slice(...difference.first), second: second.slice(...difference.second) }))
    .filter((texts) => !areSameSpoken(texts.first, texts.second));

const areSameSpoken = (first: string, second: string): boolean =>
  lettersOf(first) === lettersOf(second) || areSameValues(joined(first), joined(second));

const lettersOf = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();

/** Letters that are spoken one by one: "p m". */
const joined = (text: string): string => text.replace(/(?<=\b[ap])[. ]+(?=m\b)/giu, '');
