import { nearestName } from '../../json-input/index.js';
import { defaultTimezone } from '../definition/timezone.js';

/** From which moment and place dates such as `{{friday}}` are counted, and in which language they are spoken. */
export interface DateOrigin {
  /** ISO 8601. */
  readonly at: string;
  /** IANA. */
  readonly timezone: string;
  /** BCP 47. */
  readonly language: string;
}

/** @param timezone null for that of the language's main country */
export const dateOrigin = (timezone: string | null, language: string, at = new Date().toISOString()): DateOrigin => ({
  at,
  timezone: timezone ?? defaultTimezone(language),
  language,
});

export type DateFormat = 'spoken' | 'iso';

/** The text of a date, such as `friday` or `+7d | iso`; undefined for another name. @param usual the format of one that names none */
export type DateValues = (name: string, usual: DateFormat) => string | undefined;

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const WORDS = ['today', 'tomorrow', ...WEEKDAYS];
const FORMULA = new RegExp(`^(${WORDS.join('|')}|[+-]\\d{1,3}d)(?: ?\\| ?(spoken|iso))?$`);
/** Words beside that of a day, and a number of days without its sign: `next friday`, `in 7 days`. */
const LIKE_FORMULA = new RegExp(
  `(?:^|\\s)(?:${[...WORDS, 'yesterday'].join('|')}|\\d+ ?(?:d|days?|w|weeks?))(?:\\s|$)`,
);
/** No date has a longer name. */
export const MAX_DATE_NAME = 40;
const MAX_DAYS = 365;
const DAY_MS = 86_400_000;

export const DATE_FORMS = `the dates today, tomorrow, monday to sunday, and +1d to +${MAX_DAYS}d or -1d, each also with | spoken or | iso`;

/** The day that a name means, such as `friday`, and the format that it asks for; undefined unless it is a date. */
export function readDate(name: string): { readonly day: string; readonly format?: DateFormat } | undefined {
  const [, day, format] = FORMULA.exec(name) ?? [];
  if (day === undefined || Math.abs(parseInt(day, 10)) > MAX_DAYS) return undefined;
  return { day, ...(format !== undefined && { format: format as DateFormat }) };
}

/** Whether a name is a date or is probably meant as one: `Friday`, `tomorow`, `next friday`, `+2w`. */
export function isLikeDate(name: string): boolean {
  if (name.length > MAX_DATE_NAME) return false;
  const [day = '', format = ''] = name.split('|').map((part) => part.trim().toLowerCase());
  return /^[+-] ?\d+ ?[a-z]*$/.test(day) || /^(spoken|iso)$/.test(format) || isLikeWord(day) || LIKE_FORMULA.test(day);
}

/** With one character more, less or other, or in another order. */
const isLikeWord = (day: string): boolean =>
  nearestName(day, WORDS, Infinity) !== undefined || WORDS.some((word) => sorted(word) === sorted(day));

const sorted = (word: string): string => [...word].sort().join('');

/** Dates of the Gregorian calendar from the day that it is at an origin. */
export function datesFrom({ at, timezone, language }: DateOrigin): DateValues {
  let today: Date | undefined;
  const known = new Map<string, string>();
  return (name, usual) => {
    const read = readDate(name);
    if (!read) return undefined;
    const { day, format = usual } = read;
    today ??= dayIn(timezone, new Date(at));
    const date = new Date(today.getTime() + daysTo(day, today.getUTCDay()) * DAY_MS);
    const iso = date.toISOString().slice(0, 10);
    if (format === 'iso') return iso;
    const text = known.get(iso) ?? spoken(date, language);
    known.set(iso, text);
    return text;
  };
}

/** A weekday is the next one, never today. */
function daysTo(day: string, weekday: number): number {
  if (WEEKDAYS.includes(day)) return ((WEEKDAYS.indexOf(day) - weekday + 6) % 7) + 1;
  return day === 'today' ? 0 : day === 'tomorrow' ? 1 : parseInt(day, 10);
}

/** Midnight in UTC of the day that it is somewhere, so that no change of clocks makes a day longer or shorter. */
function dayIn(timezone: string, at: Date): Date {
  const format = { timeZone: timezone, year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const parts = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', format).formatToParts(at);
  const [year, month, day] = ['year', 'month', 'day'].map((type) =>
    Number(parts.find((part) => part.type === type)?.value),
  );
  return new Date(Date.UTC(year!, month! - 1, day));
}

const FORMAT = { calendar: 'gregory', timeZone: 'UTC', weekday: 'long', month: 'long', day: 'numeric' } as const;
const ENGLISH_ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' });
const SUFFIXES = { one: 'st', two: 'nd', few: 'rd', other: 'th', zero: 'th', many: 'th' } as const;

/** As it is said: `Friday, December 4th`, `Friday, the 4th of December`, `Freitag, 4. Dezember`. */
function spoken(date: Date, tag: string): string {
  const { language } = new Intl.Locale(tag);
  const parts = new Intl.DateTimeFormat([tag, 'en-US'], FORMAT).formatToParts(date);
  const valueOf = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  if (language !== 'en') {
    const isFirst = language === 'fr' && date.getUTCDate() === 1;
    return parts.map(({ type, value }) => (type === 'day' && isFirst ? `${value}er` : value)).join('');
  }
  const day = `${date.getUTCDate()}${SUFFIXES[ENGLISH_ORDINALS.select(date.getUTCDate())]}`;
  const isMonthFirst = parts.findIndex(({ type }) => type === 'month') < parts.findIndex(({ type }) => type === 'day');
  return `${valueOf('weekday')}, ${isMonthFirst ? `${valueOf('month')} ${day}` : `the ${day} of ${valueOf('month')}`}`;
}
