import type { Violation } from '../../json-input/index.js';

/** Language of calls when neither the evaluation nor the agent has a valid one. */
export const DEFAULT_LANGUAGE = 'en-US';

export const LANGUAGE_RULE = 'must be a BCP 47 language tag, for example en-US';

const namesOrNone = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/**
 * Whether the text is a BCP 47 language tag of a known language, for example `de-AT`, so that `jp` for `ja` is found. All
 * registered languages have two or three letters.
 */
export function isLanguageTag(text: string): boolean {
  try {
    const { language } = new Intl.Locale(text);
    return language.length <= 3 && namesOrNone.of(language) !== undefined;
  } catch {
    return false;
  }
}

/** What the JSON Schema cannot express. */
export const languageViolations = (value: object): Violation[] =>
  'language' in value && typeof value.language === 'string' && !isLanguageTag(value.language)
    ? [{ path: ['language'], text: LANGUAGE_RULE }]
    : [];

/**
 * Language of the calls of an evaluation, in canonical form: its own or, without one, the agent's.
 * @param agentLanguage free text; ignored unless it is a language tag
 */
export function callLanguage(language: string | null, agentLanguage: string | null): string {
  const tag = [language, agentLanguage].find((text) => text !== null && isLanguageTag(text));
  return tag == null ? DEFAULT_LANGUAGE : new Intl.Locale(tag).toString();
}

const standardNames = new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard' });

/** Name of a language in English with its tag, for example `German (Germany), de-DE`. */
export function languageName(tag: string): string {
  const name = standardNames.of(tag) ?? tag;
  return name === tag ? tag : `${name}, ${tag}`;
}
