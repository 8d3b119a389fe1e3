import { readNumber } from './numbers.js';
import type { Zoned } from './times.js';
import type { ValueWords } from './value-words.js';

/** A day; what is not said is undefined. */
export interface DateValue {
  readonly kind: 'date';
  readonly year?: number;
  readonly month?: number;
  readonly day?: number;
  /** 0 is Sunday. */
  readonly weekday?: number;
  /** Minutes of the day, for a date with a time. */
  readonly minutes?: number;
  readonly zoned?: Zoned;
  /** Which number is the month, where both may be. */
  readonly order?: 'day first' | 'month first';
  readonly isPossible?: true;
}

/** All readings of a date: `4/12` may be a day in December or in April. With points it is one in December, but for a few writers. */
export function readDates(text: string, table: ValueWords): DateValue[] {
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[t ].*)?$/.exec(text);
  if (iso) return [date(Number(iso[1]), Number(iso[2]), Number(iso[3]))];
  const figures = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{2}|\d{4})$/.exec(text);
  if (figures) {
    const [a, b, y] = [Number(figures[1]), Number(figures[2]), Number(figures[3])];
    const year = y < 100 ? 2000 + y : y;
    if (a > 12 || b > 12 || a === b) return a <= 12 || b <= 12 ? [b <= 12 ? date(year, b, a) : date(year, a, b)] : [];
    if (!/[/-]/.test(text)) return [date(year, b, a), { ...date(year, a, b), isPossible: true }];
    return [
      { ...date(year, b, a), order: 'day first' },
      { ...date(year, a, b), order: 'month first' },
    ];
  }
  // A fraction, or a date without its year.
  const [, a, b] = /^(\d{1,2})\/(\d{1,2})$/.exec(text)?.map(Number) ?? [];
  if (a !== undefined && b !== undefined) {
    const monthsAndDays = [[a, b] as const, [b, a] as const].filter(([month]) => month <= 12);
    return monthsAndDays.map(([month, day]) => ({ kind: 'date', month, day, isPossible: true }));
  }
  const said = readSpoken(text, table);
  return said ? [said] : [];
}

const date = (year: number, month: number, day: number): DateValue => ({
  kind: 'date',
  year,
  month,
  day,
  weekday: new Date(Date.UTC(year, month - 1, day)).getUTCDay(),
});

/** "Friday, the 4th of December 2026", "December fourth", "Friday". */
function readSpoken(text: string, table: ValueWords): DateValue | undefined {
  const words = text
    .replace(/[.,]/g, ' ')
    .split(/[ -]+/)
    .filter((word) => word !== '' && word !== table.of && !table.fillers.has(word));
  const weekday = table.weekdays[words[0] ?? ''];
  if (weekday !== undefined) words.shift();
  if (words.length === 0) return weekday === undefined ? undefined : { kind: 'date', weekday };
  const position = words.findIndex((word) => table.months[word] !== undefined);
  if (position === -1) return undefined;
  const month = table.months[words[position]!]!;
  const before = words.slice(0, position);
  const after = words.slice(position + 1);
  const dayLength = before.length > 0 ? 0 : dayWords(after, table);
  const day = readDay(before.length > 0 ? before : after.slice(0, dayLength), table);
  if (day === undefined) return undefined;
  const rest = after.slice(dayLength);
  const year = rest.length === 0 ? undefined : readYear(rest, table);
  if (rest.length > 0 && year === undefined) return undefined;
  if (year !== undefined) return date(year, month, day);
  return { kind: 'date', month, day, ...(weekday !== undefined && { weekday }) };
}

/** How many words after the month are the day. */
const dayWords = (words: readonly string[], table: ValueWords): number =>
  words[1] !== undefined && table.tens[words[0]!] !== undefined && table.ordinals[words[1]] !== undefined ? 2 : 1;

function readDay(words: readonly string[], table: ValueWords): number | undefined {
  const figures = /^(\d{1,2})(?:st|nd|rd|th|\.)?$/.exec(words.length === 1 ? words[0]! : '');
  if (figures) return Number(figures[1]);
  const ordinal = table.ordinals[words.at(-1) ?? ''];
  if (ordinal === undefined) return readNumber(words, table);
  return words.length === 1 ? ordinal : (table.tens[words[0]!] ?? NaN) + ordinal;
}

function readYear(words: readonly string[], table: ValueWords): number | undefined {
  const whole = readNumber(words, table);
  if (whole !== undefined) return whole > 999 ? whole : undefined;
  for (let split = 1; split < words.length; split++) {
    const [century, year] = [readNumber(words.slice(0, split), table), readNumber(words.slice(split), table)];
    if (century !== undefined && year !== undefined && century < 100 && year < 100) return century * 100 + year;
  }
  return undefined;
}
