import { normaliseText } from '../../text/index.js';
import { type DateValue, readDates } from './dates.js';
import { ENGLISH } from './english.js';
import { readFigures, readNumber } from './numbers.js';
import { readTime, type TimeValue } from './times.js';
import type { ValueWords } from './value-words.js';

/** The languages in which values are read. */
export const LANGUAGES: readonly ValueWords[] = [ENGLISH];

type Value =
  | { readonly kind: 'number'; readonly amount: number }
  | { readonly kind: 'money'; readonly amount: number; readonly currency: string }
  | TimeValue
  | DateValue
  | { readonly kind: 'text'; readonly text: string };

/** Longer texts are only compared as texts. */
const MAX_READ = 200;

/** Whether two values are the same, however they are written or spoken. */
export function areSameValues(a: unknown, b: unknown): boolean {
  const [first, second] = [readValues(a), readValues(b)];
  return first.some((one) => second.some((other) => areCompatible(one, other)));
}

/** All readings of a value. */
function readValues(value: unknown): Value[] {
  if (typeof value === 'number')
    return [
      { kind: 'number', amount: value },
      { kind: 'text', text: String(value) },
    ];
  if (typeof value !== 'string') return [{ kind: 'text', text: compact(JSON.stringify(value) ?? '') }];
  const text = normaliseText(value).replace(/[.,;:!?]+$/, '');
  if (text.length > MAX_READ) return [{ kind: 'text', text: compact(text) }];
  const read = LANGUAGES.flatMap((table) => readIn(text, table));
  // The signs of an amount have a meaning: "1.50" is not "150", and "$45" not "€45". Only digits may be a telephone number.
  const isAmount = read.some(({ kind }) => kind === 'number' || kind === 'money') && !/^\+?\d+$/.test(text);
  return [{ kind: 'text', text: isAmount ? text : compact(text) }, ...read];
}

function readIn(text: string, table: ValueWords): Value[] {
  const words = text.split(/[ -]+/);
  const amount = readNumber([text], table) ?? readNumber(words, table);
  const money = readMoney(text, table);
  const time = readTime(text, table);
  const spelled = readFigures(text) === undefined ? readSpelling(text, table) : undefined;
  const [, dayPart, timePart] = /^(\d{4}-\d\d-\d\d)[t ](\d\d:\d\d)/.exec(text) ?? [];
  const clock = timePart === undefined ? undefined : readTime(timePart, table);
  return [
    ...(amount === undefined ? [] : [{ kind: 'number', amount } as const]),
    ...(money ? [money] : []),
    ...(time ? [time] : []),
    ...(clock ? [clock] : []),
    ...readDates(dayPart ?? text, table),
    ...(spelled === undefined ? [] : [{ kind: 'text', text: spelled } as const]),
  ];
}

/** Letters and digits. */
const compact = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

function readMoney(text: string, table: ValueWords): Value | undefined {
  const symbols = Object.keys(table.currencies).sort((a, b) => b.length - a.length);
  const before = symbols.find((symbol) => text.startsWith(symbol) && isAmountStart(text.slice(symbol.length)));
  if (before !== undefined) return money(text.slice(before.length).trim(), before, '', table);
  // "45€", "forty-five euros and fifty cents"
  const words = text.replace(/(\d)([^\s\d.,'-])/g, '$1 $2').split(/[ -]+/);
  const position = words.findIndex((word) => table.currencies[word] !== undefined);
  if (position < 1) return undefined;
  return money(words.slice(0, position).join(' '), words[position]!, words.slice(position + 1).join(' '), table);
}

const isAmountStart = (text: string): boolean => /^ ?\d/.test(text);

function money(whole: string, currency: string, rest: string, table: ValueWords): Value | undefined {
  const amount = readNumber([whole], table) ?? readNumber(whole.split(/[ -]+/), table);
  const cents = rest
    .split(/[ -]+/)
    .filter((word) => word !== '' && !table.hundredths.has(word) && !table.fillers.has(word));
  const fraction = cents.length === 0 ? 0 : readNumber(cents, table);
  if (amount === undefined || fraction === undefined || fraction > 99) return undefined;
  return { kind: 'money', amount: amount + fraction / 100, currency: table.currencies[currency]! };
}

/** Spelled-out letters and digits: "Q X 7", "Quebec X-ray seven", "double five". */
function readSpelling(text: string, table: ValueWords): string | undefined {
  const words = text
    .replace(table.explains, '')
    .replace(/x-ray/g, 'xray')
    .split(/[ ,.-]+/)
    .filter((word) => word !== '');
  let spelled = '';
  let times = 1;
  for (const word of words) {
    if (table.repeats[word] !== undefined) {
      times = table.repeats[word];
      continue;
    }
    const character = characterOf(word, table);
    if (character === undefined) return undefined;
    spelled += character.repeat(times);
    times = 1;
  }
  return words.length > 1 ? spelled : undefined;
}

function characterOf(word: string, table: ValueWords): string | undefined {
  if ([...word].length === 1 || /^\d+$/.test(word)) return word;
  const digit = table.units[word];
  if (digit !== undefined && digit < 10) return String(digit);
  return Object.hasOwn(table.letters, word) ? table.letters[word] : undefined;
}

function areCompatible(a: Value, b: Value): boolean {
  switch (a.kind) {
    case 'text':
      return b.kind === 'text' && a.text === b.text && a.text !== '';
    case 'number':
      if (b.kind === 'time') return isHour(a.amount, b);
      return (b.kind === 'number' || b.kind === 'money') && areClose(a.amount, b.amount);
    case 'money':
      if (b.kind === 'money') return a.currency === b.currency && areClose(a.amount, b.amount);
      return b.kind === 'number' && areClose(a.amount, b.amount);
    case 'time':
      if (b.kind === 'number') return isHour(b.amount, a);
      return b.kind === 'time' && areSameTimes(a, b);
    case 'date':
      return b.kind === 'date' && areSameDates(a, b);
  }
}

const areClose = (a: number, b: number): boolean => Math.abs(a - b) < 1e-6;

/** "At seven" is 7:00 or 19:00. */
const isHour = (hour: number, { minutes }: TimeValue): boolean =>
  Number.isInteger(hour) &&
  hour > 0 &&
  hour <= 24 &&
  minutes % (hour > 12 ? 1440 : 720) === (hour * 60) % (hour > 12 ? 1440 : 720);

function areSameTimes(a: TimeValue, b: TimeValue): boolean {
  const cycle = a.isAmbiguous || b.isAmbiguous ? 720 : 1440;
  return a.minutes % cycle === b.minutes % cycle;
}

/** What both say must be the same, and they must have something in common. */
function areSameDates(a: DateValue, b: DateValue): boolean {
  const fields = ['year', 'month', 'day', 'weekday'] as const;
  const common = fields.filter((field) => a[field] !== undefined && b[field] !== undefined);
  return common.length > 0 && common.every((field) => a[field] === b[field]);
}
