/** A word of a text, with what flite is given for it: printable ASCII, possibly several words or nothing. */
export interface SpeakableWord {
  readonly text: string;
  readonly spoken: string;
}

/** flite's time grows with the square of a word's length; nothing that is meant to be spoken is longer. */
const MAX_WORD_LENGTH = 50;

/**
 * The words of a text (what whitespace and control characters separate) as flite can speak them. flite reads bytes and
 * skips what is not ASCII, which would make "café" "caf".
 */
export function speakableWords(text: string): SpeakableWord[] {
  return text
    .replace(/\p{Cf}/gu, '')
    .split(/[\s\p{Cc}]+/u)
    .flatMap((word) => word.match(new RegExp(`.{1,${MAX_WORD_LENGTH}}`, 'gu')) ?? [])
    .map((word) => ({ text: word, spoken: asciiOf(word) }));
}

const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  // Before NFKC, which would separate the letters of some of these.
  [/[‘’‛′]/g, "'"],
  [/[“”„«»″]/g, '"'],
  [/[‐‑‒–—―−]/g, '-'],
  [/€\s?(\d[\d.,]*\d|\d)/g, '$1 euros'],
  [/(\d)\s?€/g, '$1 euros'],
  [/£\s?(\d[\d.,]*\d|\d)/g, '$1 pounds'],
  [/€/g, ' euro '],
  [/£/g, ' pound '],
  [/°/g, ' degrees '],
  [/½/g, ' a half '],
  [/ß/g, 'ss'],
  [/æ/gi, 'ae'],
  [/œ/gi, 'oe'],
  [/ø/gi, 'o'],
  [/ł/gi, 'l'],
  [/đ/gi, 'd'],
];

function asciiOf(word: string): string {
  const replaced = REPLACEMENTS.reduce((result, [from, to]) => result.replace(from, to), word);
  return replaced
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^ -~]+/g, ' ')
    .trim();
}
