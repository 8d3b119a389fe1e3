import type { Violation } from '../json-input/index.js';

/** Language of calls when neither the evaluation nor the agent has a valid one. */
export const DEFAULT_LANGUAGE = 'en-US';

export const LANGUAGE_RULE = 'must be a BCP 47 language tag, for example en-US';

const namesOrNone = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/**
 * Whether the text is a BCP 47 language tag, for example `de-AT`. Two letters must be a known language, so that `jp` for
 * `ja` is found; all registered languages have two or three.
 */
export function isLanguageTag(text: string): boolean {
  try {
    const { language } = new Intl.Locale(text);
    return language.length === 2 ? namesOrNone.of(language) !== undefined : language.length === 3;
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
