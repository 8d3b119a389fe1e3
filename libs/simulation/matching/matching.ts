import {
  compilePattern,
  compileText,
  type Condition,
  type Matcher,
  type TextMatcher,
} from '../../evaluation-definition/index.js';
import { NormalisedText, normaliseText } from '../../text/index.js';
import { truncate } from '../timeline/text.js';

/** A match in a text. */
export interface Found {
  /** Position of the match in the text, and of what follows it. */
  readonly position: number;
  readonly end: number;
  /** The match with the words around it, verbatim. */
  readonly quote: string;
}

/**
 * Limit of characters × instructions of a pattern per search, which cannot be interrupted: 30 ns each at worst, 60 ms in
 * all. A pattern of 40 instructions searches 50,000 characters of a turn (an hour of speech), forty case-insensitive words
 * 5,000, and the largest allowed pattern 1,000 (more than a minute of speech).
 */
const MAX_STEPS = 2_000_000;
/** Maximum number of characters of one turn that are searched. */
export const MAX_SEARCH_LENGTH = 50_000;

interface Search {
  readonly searchLimit: number;
  /** Start and end of each match, found one at a time. */
  ranges(said: string): Generator<readonly [number, number]>;
}

/** Compiled searches: all calls of an evaluation use the same matchers. */
const prepared = new Map<string, Search>();
const MAX_PREPARED = 1_000;

function searchFor(matcher: Matcher): Search {
  const key = JSON.stringify('pattern' in matcher ? [matcher.pattern] : [matcher.text, matcher.partOfWord ?? false]);
  let search = prepared.get(key);
  if (!search) {
    search = 'pattern' in matcher ? patternSearch(matcher.pattern) : textSearch(matcher);
    const [oldest] = prepared.keys();
    if (prepared.size >= MAX_PREPARED && oldest !== undefined) prepared.delete(oldest);
    prepared.set(key, search);
  }
  return search;
}

function patternSearch(source: string): Search {
  const { size, find } = compilePattern(source);
  return {
    searchLimit: Math.min(MAX_SEARCH_LENGTH, Math.floor(MAX_STEPS / Math.max(1, size))),
    *ranges(said) {
      for (let range = find(said); range;) {
        yield range;
        const next = Math.max(range[1], range[0] + 1);
        range = next <= said.length ? find(said, next) : undefined;
      }
    },
  };
}

function textSearch(matcher: TextMatcher): Search {
  const search = compileText(matcher);
  const { length } = normaliseText(matcher.text);
  return {
    searchLimit: MAX_SEARCH_LENGTH,
    *ranges(said) {
      const text = normaliseText(said);
      // Positions are only computed for a match: they cost more than the search.
      let positions: NormalisedText | undefined;
      for (let at = search(text); at !== -1; at = search(text, at + length)) {
        positions ??= new NormalisedText(said);
        yield positions.originOf(at, at + length);
      }
    },
  };
}

/** Number of characters of one turn that a matcher searches. */
export const searchLimitOf = (matcher: Matcher): number => searchFor(matcher).searchLimit;

/** Whether a matcher matches what one side said in one turn, within its search limit. */
export const matches = (matcher: Matcher, said: string): boolean => find(matcher, said) !== undefined;

/** Whether a condition of a script holds for what the agent said in its last turn. */
export const holds = ({ says, notSays }: Condition, said: string): boolean =>
  (!says || matches(says, said)) && !(notSays && matches(notSays, said));

/** The first match within the search limit. */
export function find(matcher: Matcher, said: string): Found | undefined {
  return matchesIn(matcher, said).next().value ?? undefined;
}

/** All matches within the search limit, in order and without overlap; each is searched for when it is asked for. */
export function* matchesIn(matcher: Matcher, said: string): Generator<Found, undefined> {
  const search = searchFor(matcher);
  for (const range of search.ranges(said.slice(0, search.searchLimit))) {
    yield { position: range[0], end: range[1], quote: quoteAround(said, ...range) };
  }
}

/** Range [start, end) of a text in what was said, compared after normalisation. */
export function rangeOfText(part: string, said: string): [number, number] | undefined {
  const wanted = normaliseText(part);
  const normalised = new NormalisedText(said);
  const at = wanted === '' ? -1 : normalised.text.indexOf(wanted);
  return at === -1 ? undefined : normalised.originOf(at, at + wanted.length);
}

/** Maximum length of a quote, and of its part before the match. */
const MAX_QUOTE = 240;
const BEFORE = 80;

/** The sentence around a match. */
function quoteAround(said: string, start: number, end: number): string {
  const before = said.slice(Math.max(0, start - BEFORE), start);
  const boundary = Math.max(before.lastIndexOf('. '), before.lastIndexOf('? '), before.lastIndexOf('! '));
  const from = boundary === -1 ? start - before.length : start - before.length + boundary + 2;
  const next = said.slice(end, end + MAX_QUOTE).search(/[.?!](\s|$)/);
  const to = /[.?!]/.test(said[end - 1] ?? '') ? end : next === -1 ? said.length : end + next + 1;
  return truncate(said.slice(from, to).toWellFormed().trim(), MAX_QUOTE);
}
