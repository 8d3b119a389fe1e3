import { RE2JS } from 're2js';
import { compilePattern, fold, type Matcher } from '../evaluation-definition/index.js';
import { truncate } from './text.js';

/** Where a matcher finds itself in a text. */
export interface Found {
  /** Position of the find in the text, for comparison within it. */
  readonly position: number;
  /** The find with the words around it, as it was said. */
  readonly quote: string;
}

/**
 * A search cannot be interrupted, and costs up to the pattern's instructions for each character: 30 ns for each of them
 * at worst, 60 ms in all. A pattern of 40 instructions looks at 50,000 characters of a turn, an hour of speech; forty words
 * in any letter case look at 5,000, and the largest pattern that is allowed at 1,000, more than a minute.
 */
const MAX_STEPS = 2_000_000;
/** Characters of one turn that are searched for a text, or a small pattern, at most. */
const MAX_SEARCH_LENGTH = 50_000;

interface Search {
  readonly searchLimit: number;
  /** Beginning and end of the first find. */
  range(said: string): readonly [number, number] | undefined;
}

/** Searches by what they look for: calls of one evaluation ask the same again and again. */
const prepared = new Map<string, Search>();
const MAX_PREPARED = 1_000;

function searchFor(matcher: Matcher): Search {
  const key = 'pattern' in matcher ? `p${matcher.pattern}` : `t${matcher.text}`;
  let search = prepared.get(key);
  if (!search) {
    search = 'pattern' in matcher ? patternSearch(matcher.pattern) : textSearch(matcher.text);
    const [oldest] = prepared.keys();
    if (prepared.size >= MAX_PREPARED && oldest !== undefined) prepared.delete(oldest);
    prepared.set(key, search);
  }
  return search;
}

function patternSearch(source: string): Search {
  // Refuses what would be too large to compile, before the library itself is asked.
  compilePattern(source);
  const pattern = RE2JS.compile(source);
  const searchLimit = Math.min(MAX_SEARCH_LENGTH, Math.floor(MAX_STEPS / Math.max(1, pattern.programSize())));
  return {
    searchLimit,
    range: (said) => {
      const matcher = pattern.matcher(said);
      return matcher.find() ? [matcher.start(), matcher.end()] : undefined;
    },
  };
}

function textSearch(text: string): Search {
  const part = fold(text);
  return {
    searchLimit: MAX_SEARCH_LENGTH,
    // What only normalising finds has no place of its own in the original.
    range: (said) => (fold(said).includes(part) ? (rangeOfFolded(part, said) ?? [0, said.length]) : undefined),
  };
}

/** How many characters of what is said in one turn a matcher looks at; what comes after them it does not find. */
export const searchLimitOf = (matcher: Matcher): number => searchFor(matcher).searchLimit;

/** Whether a matcher finds itself in what one side said in one turn, as far as it reaches. */
export const matches = (matcher: Matcher, said: string): boolean => find(matcher, said) !== undefined;

/** The first place at which a matcher finds itself, as far as it reaches. */
export function find(matcher: Matcher, said: string): Found | undefined {
  const search = searchFor(matcher);
  const range = search.range(said.slice(0, search.searchLimit));
  return range && { position: range[0], quote: quoteAround(said, ...range) };
}

/** Where a text stands in what was said, whatever its letter case and white space: [start, end) in what was said. */
export const rangeOfText = (part: string, said: string): [number, number] | undefined =>
  rangeOfFolded(fold(part), said);

/** Finds folded text in the original: folding changes lengths, so that each folded character remembers its origin. */
function rangeOfFolded(wanted: string, said: string): [number, number] | undefined {
  let folded = '';
  const origins: number[] = [];
  let position = 0;
  for (const character of said) {
    const isSpace = /\s/u.test(character);
    const text = isSpace ? (folded === '' || folded.endsWith(' ') ? '' : ' ') : character.toLowerCase();
    folded += text;
    for (let unit = 0; unit < text.length; unit++) origins.push(position);
    position += character.length;
  }
  const at = folded.indexOf(wanted);
  if (at === -1) return undefined;
  return [origins[at] ?? 0, (origins[at + wanted.length - 1] ?? 0) + 1];
}

/** Longest quote, and how much of it may stand before the find. */
const MAX_QUOTE = 240;
const BEFORE = 80;

/** The sentence or so that a find stands in. */
function quoteAround(said: string, start: number, end: number): string {
  const before = said.slice(Math.max(0, start - BEFORE), start);
  const boundary = Math.max(before.lastIndexOf('. '), before.lastIndexOf('? '), before.lastIndexOf('! '));
  const from = boundary === -1 ? start - before.length : start - before.length + boundary + 2;
  const next = said.slice(end, end + MAX_QUOTE).search(/[.?!](\s|$)/);
  const to = /[.?!]/.test(said[end - 1] ?? '') ? end : next === -1 ? said.length : end + next + 1;
  return truncate(said.slice(from, to).toWellFormed().trim(), MAX_QUOTE);
}
