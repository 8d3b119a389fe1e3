/** Characters of a text that are read. */
const MAX_LENGTH = 5_000;

/** Languages are ISO 639-1. */
export interface LanguageDetector {
  /** Undefined if it cannot be told for certain. */
  readonly detect: (text: string) => string | undefined;
  /** A language that it does not know is taken for a neighbour. */
  readonly knows: (language: string) => boolean;
}

/** Loads the detector on first use: its data takes memory. */
export async function languageDetector(): Promise<LanguageDetector> {
  const { eld } = await import('eld/extrasmall');
  const known = new Set(Object.values(eld.info().Languages));
  return {
    detect: (text) => {
      const result = eld.detect(text.slice(0, MAX_LENGTH));
      return result.isReliable() ? result.language : undefined;
    },
    knows: (language) => known.has(language),
  };
}

const words = new Intl.Segmenter('en', { granularity: 'word' });

/** Number of words, also of languages without spaces between them; of a long text that of its beginning. */
export const wordsIn = (text: string): number =>
  Array.from(words.segment(text.slice(0, MAX_LENGTH))).filter(({ isWordLike }) => isWordLike).length;

const names = new Intl.DisplayNames('en', { type: 'language' });

/** Name of a language in English. */
export const nameOfLanguage = (language: string): string => names.of(language) ?? language;
