/**
 * Normalisation for the comparison of texts: NFKC, case folding, white space collapsed to single spaces and trimmed;
 * typographic quotes, apostrophes and dashes as `"`, `'` and `-`; invisible characters and Markdown emphasis removed.
 * Linear time.
 */
export const normaliseText = (original: string): string => (isPlain(original) ? plain(original) : normalise(original));

/** A normalised text that knows where each of its characters came from. */
export class NormalisedText {
  readonly text: string;
  /** Start and end in the original of each UTF-16 unit of `text`. */
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];

  constructor(private readonly original: string) {
    let text = '';
    let isAfterSpace = true;
    normalisePieces(original, (character, start, end) => {
      const isSpace = /\s/.test(character);
      if (isSpace && isAfterSpace) return;
      isAfterSpace = isSpace;
      text += isSpace ? ' ' : character;
      for (let unit = 0; unit < character.length; unit++) {
        this.starts.push(start);
        this.ends.push(end);
      }
    });
    this.text = isAfterSpace ? text.slice(0, -1) : text;
  }

  /** The range [start, end) of the original that became this range of `text`. */
  originOf(start: number, end: number): [number, number] {
    const from = this.starts[start] ?? this.original.length;
    return [from, end > start ? this.ends[end - 1]! : from];
  }
}

/** ASCII without Markdown emphasis only needs lower case and single spaces. */
const isPlain = (text: string): boolean => !/[^\0-\x7f]|[*_]/.test(text);
const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim();

function normalise(original: string): string {
  // NFKC sorts marks in quadratic time: of texts with many in a row it only sees short pieces.
  if (MANY_JOINED.test(original)) return new NormalisedText(original).text;
  return plain(normaliseCharacters(withoutEmphasis(original)));
}

function withoutEmphasis(original: string): string {
  if (!/[*_]/.test(original)) return original;
  const emphasis = emphasisIn(original);
  return original.replace(/[*_]/g, (delimiter, at: number) => (emphasis.has(at) ? '' : delimiter));
}

/** Characters that may compose with the one before, or stand between the two. */
const JOINED = String.raw`\p{M}\p{Cf}\u1160-\u11ff\u3131-\u318e\ud7b0-\ud7fb\uff9e-\uffdc`;
const MANY_JOINED = new RegExp(`[${JOINED}]{31}`, 'u');
const IS_JOINED = new RegExp(`^[${JOINED}]`, 'u');
/** Pieces that normalise independently of each other: runs of ASCII, and single characters with what joins them. */
const PIECES = new RegExp(String.raw`[\0-\x7f]+(?![^\0-\x7f])|[^][${JOINED}]{0,30}`, 'gu');

/** Normalises piece by piece. @param add receives each character with its origin */
function normalisePieces(original: string, add: (character: string, start: number, end: number) => void): void {
  const emphasis = emphasisIn(original);
  const known = new Map<string, string>();
  for (const { 0: piece, index } of original.matchAll(PIECES)) {
    if (piece <= '\x7f' && !/[^\0-\x7f]/.test(piece)) {
      const lower = piece.toLowerCase();
      for (let n = 0; n < piece.length; n++) if (!emphasis.has(index + n)) add(lower[n]!, index + n, index + n + 1);
      continue;
    }
    let normalised = known.get(piece);
    if (normalised === undefined) known.set(piece, (normalised = normaliseCharacters(piece)));
    for (const character of normalised) add(character, index, index + piece.length);
  }
}

/** Soft hyphens, zero-width spaces, direction marks and variation selectors; joiners have a meaning in some scripts. */
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe0e\ufe0f\ufeff]/g;
const SINGLE_QUOTES = /[\u00b4\u02b9\u02bb\u02bc\u2018-\u201b\u2032\u2035\u2039\u203a\uff07]/g;
const DOUBLE_QUOTES = /[\u00ab\u00bb\u02ba\u201c-\u201f\u2033\u2036\u275d\u275e\u300c-\u300f\u301d-\u301f\uff02]/g;
const DASHES = /[\u058a\u2010-\u2015\u2043\u2212\ufe58\ufe63\uff0d]/g;

const withPlainPunctuation = (text: string): string =>
  text.replace(SINGLE_QUOTES, "'").replace(DOUBLE_QUOTES, '"').replace(DASHES, '-');

/** Quotes and dashes come before NFKC, which turns some of them into spaces and combining marks, and others into quotes. */
const normaliseCharacters = (text: string): string =>
  withPlainPunctuation(withPlainPunctuation(text.normalize('NFC').replace(INVISIBLE, '')).normalize('NFKC'))
    .toLowerCase()
    // Unlike lower case, full case folding makes ß equal to SS; İ loses the dot that it keeps as a mark.
    .replaceAll('ß', 'ss')
    .replace(/i\u0307+/g, 'i')
    .normalize('NFKC')
    // Lower case of a capital sigma depends on its place in the word.
    .replaceAll('ς', 'σ');

interface Run {
  readonly character: string;
  /** Position of the first delimiter that is not yet used. */
  start: number;
  end: number;
}

/** Positions of the `*` and `_` that are emphasis by the rules of CommonMark 0.31, except its "rule of three". */
function emphasisIn(text: string): Set<number> {
  const removed = new Set<number>();
  const openers: Run[] = [];
  const open: Record<string, number> = { '*': 0, _: 0 };
  for (const { 0: delimiters, index } of text.matchAll(/\*+|_+/g)) {
    const run: Run = { character: delimiters[0]!, start: index, end: index + delimiters.length };
    const { opens, closes } = flanks(text, run);
    while (closes && run.start < run.end && open[run.character]! > 0) {
      const opener = openers.at(-1)!;
      // Emphasis does not overlap: delimiters that are still open inside it stay text.
      if (opener.character === run.character) {
        removed.add(--opener.end);
        removed.add(run.start++);
      }
      if (opener.character === run.character && opener.start < opener.end) continue;
      openers.pop();
      open[opener.character]!--;
    }
    if (!opens || run.start === run.end) continue;
    openers.push(run);
    open[run.character]!++;
  }
  return removed;
}

function flanks(text: string, { character, start, end }: Run): { readonly opens: boolean; readonly closes: boolean } {
  const next = characterAt(text, end);
  // Marks make it another character.
  if (IS_JOINED.test(next)) return { opens: false, closes: false };
  const [before, after] = [kindOf(characterBefore(text, start)), kindOf(next)];
  const left = after === 'word' || (after === 'punctuation' && before !== 'word');
  const right = before === 'word' || (before === 'punctuation' && after !== 'word');
  if (character === '*') return { opens: left, closes: right };
  // `_` inside a word is part of it: book_table.
  return {
    opens: left && (!right || before === 'punctuation'),
    closes: right && (!left || after === 'punctuation'),
  };
}

function kindOf(character: string): 'space' | 'punctuation' | 'word' {
  if (character === '' || /\s/.test(character)) return 'space';
  return /[\p{P}\p{S}]/u.test(character) ? 'punctuation' : 'word';
}

/** The code point at a position, or the empty string at the end. */
export const characterAt = (text: string, position: number): string =>
  position < text.length ? String.fromCodePoint(text.codePointAt(position)!) : '';

/** The code point that ends at a position, or the empty string at the start. */
export function characterBefore(text: string, position: number): string {
  const unit = text.charCodeAt(position - 1);
  const isPair = position > 1 && unit >= 0xdc00 && unit <= 0xdfff;
  return position > 0 ? characterAt(text, isPair ? position - 2 : position - 1) : '';
}
