import type { Matcher } from './definition.js';
import { compilePattern } from './pattern.js';

/** Normalises a text for comparison: lower case, white space collapsed. */
export function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();
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
  const part = fold(matcher.text);
  return (said) => fold(said).includes(part);
}
