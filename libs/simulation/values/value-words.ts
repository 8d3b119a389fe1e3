/**
 * The words of a language for numbers, money, times, dates and spelling. All keys are normalised (`normaliseText`), without
 * hyphens. Another language is another table in `LANGUAGES`.
 */
export interface ValueWords {
  /** 0 to 19, and other words for them. */
  readonly units: Readonly<Record<string, number>>;
  readonly tens: Readonly<Record<string, number>>;
  /** 100, 1,000 and so on. */
  readonly scales: Readonly<Record<string, number>>;
  readonly ordinals: Readonly<Record<string, number>>;
  /** Words inside numbers and dates without a value. */
  readonly fillers: ReadonlySet<string>;
  readonly decimalPoint: string;
  /** Currency symbols and words, to codes of ISO 4217. */
  readonly currencies: Readonly<Record<string, string>>;
  /** Words for a hundredth of a currency. */
  readonly hundredths: ReadonlySet<string>;
  /** 1 is January. */
  readonly months: Readonly<Record<string, number>>;
  /** 0 is Sunday. */
  readonly weekdays: Readonly<Record<string, number>>;
  /** Minutes of the day. */
  readonly namedTimes: Readonly<Record<string, number>>;
  /** Matches the part of the day at the end of a time; `hours` is what has to be added to hours before 12. */
  readonly dayParts: readonly { readonly pattern: RegExp; readonly hours: 0 | 12 }[];
  /** A word that may follow an hour: o'clock. */
  readonly hourWords: ReadonlySet<string>;
  readonly past: ReadonlySet<string>;
  readonly to: ReadonlySet<string>;
  readonly minuteFractions: Readonly<Record<string, number>>;
  /** Words for letters, digits and signs in spelling. */
  readonly letters: Readonly<Record<string, string>>;
  /** Words that repeat the next character. */
  readonly repeats: Readonly<Record<string, number>>;
  /** "As in": what follows explains the letter before. */
  readonly explains: RegExp;
  /** Words between the parts of a spoken e-mail address. */
  readonly spokenEmail: RegExp;
}
