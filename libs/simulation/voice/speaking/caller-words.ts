/** What a caller says beside its lines, in one language. */
interface CallerWords {
  /** While it thinks. */
  readonly fillers: readonly string[];
  /** The backchannel `yeah`; the others are not words. */
  readonly yeah: string;
}

const BY_LANGUAGE: Readonly<Record<string, CallerWords>> = {
  en: { fillers: ['Um', 'Let me see'], yeah: 'Yeah' },
  de: { fillers: ['Ähm', 'Mal sehen'], yeah: 'Ja' },
  es: { fillers: ['Eh', 'A ver'], yeah: 'Sí' },
  fr: { fillers: ['Euh', 'Voyons'], yeah: 'Oui' },
  it: { fillers: ['Ehm', 'Vediamo'], yeah: 'Sì' },
  nl: { fillers: ['Eh', 'Even kijken'], yeah: 'Ja' },
  pt: { fillers: ['Hum', 'Deixa ver'], yeah: 'Sim' },
};

/** The languages of fillers and backchannels, as ISO 639-1. */
export const CALLER_WORD_LANGUAGES = Object.keys(BY_LANGUAGE);

/** Whether the caller has fillers and backchannels in a language. @param language BCP 47 */
export const hasCallerWords = (language: string): boolean => callerWords(language) !== undefined;

/** @param language BCP 47 @returns undefined for a language in which the caller has no such words */
export function callerWords(language: string): CallerWords | undefined {
  const primary = language.toLowerCase().split('-')[0] ?? '';
  return Object.hasOwn(BY_LANGUAGE, primary) ? BY_LANGUAGE[primary] : undefined;
}

/**
 * The word that a backchannel is in another language than English; undefined where its recording serves, which is
 * English or not a word.
 * @param language BCP 47
 */
export function backchannelWord(name: string, language: string): string | undefined {
  const words = callerWords(language);
  return name === 'yeah' && words !== BY_LANGUAGE['en'] ? words?.yeah : undefined;
}
