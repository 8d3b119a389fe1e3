import { findWords, normaliseText } from '../../text/index.js';
import type { Matcher, TextMatcher } from '../definition/definition.js';
import { compilePattern } from './pattern.js';

/** Normalises a text for comparison. */
export const fold = normaliseText;

/**
 * Compiles a `text` matcher to a search in a normalised text.
 * @returns the position of the first match at or after `from`, or -1
 */
export function compileText({ text, partOfWord }: TextMatcher): (said: string, from?: number) => number {
  const wanted = fold(text);
  return partOfWord ? (said, from) => said.indexOf(wanted, from) : (said, from) => findWords(wanted, said, from);
}

/**
 * Compiles a matcher to a predicate on the text of one turn.
 * @throws PatternError for a pattern that never passed `definitionViolations`
 */
export function compileMatcher(matcher: Matcher): (said: string) => boolean {
  if ('pattern' in matcher) {
    const pattern = compilePattern(matcher.pattern);
    return (said) => pattern.test(said);
  }
  const search = compileText(matcher);
  return (said) => search(fold(said)) !== -1;
}
