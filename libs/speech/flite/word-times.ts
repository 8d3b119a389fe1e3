/** A phone with the time at which it ends, in seconds. */
export interface Phone {
  readonly name: string;
  readonly endSeconds: number;
}

export interface WordSpan {
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** flite's silence, at both ends of an utterance and between phrases. */
const PAUSE = 'pau';

/** Above this product of lengths the alignment would take too long; words then share the time by their letters. */
const MAX_CELLS = 16_000_000;

/**
 * When each word was spoken. flite prints the phones of an utterance with their times, and no boundaries of words. So each
 * word is transcribed separately as well, and the two sequences are aligned at the least edit distance: a word is spoken
 * from its first aligned phone to its last. Both come from the same lexicon and rules, so they are equal but for what
 * depends on the neighbours ("a", "the", "St.", reduced vowels); a pause belongs to no word.
 *
 * @param phones of the whole utterance, with pauses
 * @param transcriptions of each word in isolation, in order; pauses in them are ignored
 * @returns one span per word, null for a word without a phone
 */
export function wordSpans(
  phones: readonly Phone[],
  transcriptions: readonly (readonly string[])[],
): (WordSpan | null)[] {
  const spoken = phones.flatMap(({ name, endSeconds }, index) =>
    name === PAUSE ? [] : [{ name, startSeconds: phones[index - 1]?.endSeconds ?? 0, endSeconds }],
  );
  const expected = transcriptions.flatMap((names, word) =>
    names.filter((name) => name !== PAUSE).map((name) => ({ name, word })),
  );
  const spans: (WordSpan | null)[] = transcriptions.map(() => null);
  if (expected.length === 0) return spans;
  const partners = align(
    spoken.map(({ name }) => name),
    expected.map(({ name }) => name),
  );
  spoken.forEach(({ startSeconds, endSeconds }, index) => {
    const { word } = expected[partners[index]!]!;
    spans[word] = { startSeconds: spans[word]?.startSeconds ?? startSeconds, endSeconds };
  });
  return spans;
}

const VOWEL = /^[aeiou]/;

/** A vowel that is pronounced differently, such as that of "the", is likelier than one that is missing. */
function substitution(a: string, b: string): number {
  if (a === b) return 0;
  return VOWEL.test(a) === VOWEL.test(b) ? 1 : 3;
}

const MATCH = 0;
const EXTRA = 1;
const MISSING = 2;

/**
 * For each spoken phone the position of its expected one, by edit distance. An extra phone goes with the expected one
 * before it. Never decreases.
 */
function align(spoken: readonly string[], expected: readonly string[]): number[] {
  if (spoken.length * expected.length > MAX_CELLS) return proportional(spoken.length, expected.length);
  const steps = distanceSteps(spoken, expected);
  const width = expected.length + 1;
  const partners = new Array<number>(spoken.length).fill(0);
  let row = spoken.length;
  let column = expected.length;
  while (row > 0) {
    const step = column === 0 ? EXTRA : steps[row * width + column];
    if (step !== MISSING) partners[--row] = Math.max(0, column - 1);
    if (step !== EXTRA) column--;
  }
  return partners;
}

/** Table of the best last steps, by spoken and expected phones so far. */
function distanceSteps(spoken: readonly string[], expected: readonly string[]): Uint8Array {
  const width = expected.length + 1;
  const steps = new Uint8Array((spoken.length + 1) * width).fill(MISSING, 0, width);
  let previous = Float64Array.from({ length: width }, (_, column) => column * 2);
  for (let row = 1; row <= spoken.length; row++) {
    const current = new Float64Array(width);
    current[0] = row * 2;
    steps[row * width] = EXTRA;
    for (let column = 1; column < width; column++) {
      const match = previous[column - 1]! + substitution(spoken[row - 1]!, expected[column - 1]!);
      const extra = previous[column]! + 2;
      const missing = current[column - 1]! + 2;
      const best = Math.min(match, extra, missing);
      current[column] = best;
      steps[row * width + column] = best === match ? MATCH : best === extra ? EXTRA : MISSING;
    }
    previous = current;
  }
  return steps;
}

const proportional = (spoken: number, expected: number): number[] =>
  Array.from({ length: spoken }, (_, index) => Math.floor((index * expected) / spoken));
