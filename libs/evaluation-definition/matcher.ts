import type { Matcher } from './definition.js';
import { compilePattern } from './pattern.js';

/** A text as it is compared: without letter case, and with one space for any white space. */
export function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/**
 * Whether a matcher finds itself in what one side said in one turn.
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
