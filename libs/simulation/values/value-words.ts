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
  /** The denominators of fractions: a half, two thirds. */
  readonly fractions: Readonly<Record<string, number>>;
  /** Words before a number: minus, plus. */
  readonly numberSigns: Readonly<Record<string, 1 | -1>>;
  readonly percent: RegExp;
  /** Words inside numbers and dates without a value. */
  readonly fillers: ReadonlySet<string>;
  /** Between a day and its month. */
  readonly of: string;
  /** Between a whole number and a fraction. */
  readonly and: string;
  readonly decimalPoint: string;
  /** Currency symbols and words, to codes of ISO 4217. */
  readonly currencies: Readonly<Record<string, string>>;
  /** Words for a hundredth of a currency, with the currencies that have one of this name. */
  readonly hundredths: Readonly<Record<string, readonly string[]>>;
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
  /** After a time of 24 hours: seventeen hundred hours. */
  readonly hours: string;
  /** What makes the number after it an hour: at. */
  readonly beforeHour: string;
  readonly past: ReadonlySet<string>;
  readonly to: ReadonlySet<string>;
  readonly minuteFractions: Readonly<Record<string, number>>;
  /** Words for letters, digits and signs in spelling. */
  readonly letters: Readonly<Record<string, string>>;
  /** Words for the signs of addresses. */
  readonly addressSigns: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<string, boolean>>;
  /** Other words that say a quantity: a text with one of them that cannot be read may mean any value. */
  readonly quantities: ReadonlySet<string>;
  /** Words that repeat the next character. */
  readonly repeats: Readonly<Record<string, number>>;
  /** "As in": what follows explains the letter before. */
  readonly explains: RegExp;
}
