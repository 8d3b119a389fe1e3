import { normaliseText } from '../../text/index.js';

/** A part of two texts in which their words differ, as positions from and to in each of them. */
export interface WordDifference {
  readonly first: readonly [from: number, to: number];
  readonly second: readonly [from: number, to: number];
}

interface Token {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

/** Longer texts are compared as a whole; more than ten minutes of speech. */
const MAX_WORDS = 2_000;

/** Where two texts have other words, in order; letter case and punctuation around words count for nothing. */
export function wordDifferences(first: string, second: string): WordDifference[] {
  const [a, b] = [tokensOf(first), tokensOf(second)];
  const same = a.length > MAX_WORDS || b.length > MAX_WORDS ? [] : commonWords(a, b);
  const differences: WordDifference[] = [];
  let [atA, atB] = [0, 0];
  for (const [nextA, nextB] of [...same, [a.length, b.length] as const]) {
    if (nextA > atA || nextB > atB) {
      differences.push({ first: rangeOf(a, atA, nextA, first.length), second: rangeOf(b, atB, nextB, second.length) });
    }
    [atA, atB] = [nextA + 1, nextB + 1];
  }
  return differences;
}

const tokensOf = (text: string): Token[] =>
  [...text.matchAll(/\S+/gu)].flatMap(({ 0: found, index }) => {
    const word = normaliseText(found)
      .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
      .toLowerCase();
    return word === '' ? [] : [{ word, from: index, to: index + found.length }];
  });

/** An empty range stands before the next word. */
function rangeOf(tokens: readonly Token[], from: number, to: number, length: number): readonly [number, number] {
  if (to > from) return [tokens[from]!.from, tokens[to - 1]!.to];
  const at = tokens[from]?.from ?? length;
  return [at, at];
}

/** Positions of the words of a longest common subsequence. */
function commonWords(a: readonly Token[], b: readonly Token[]): (readonly [number, number])[] {
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j;
      longest[at] =
        a[i]!.word === b[j]!.word ? longest[at + width + 1]! + 1 : Math.max(longest[at + width]!, longest[at + 1]!);
    }
  }
  const found: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i]!.word === b[j]!.word) found.push([i++, j++]);
    else if (longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!) i++;
    else j++;
  }
  return found;
}
