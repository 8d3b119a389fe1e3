import { normaliseText } from '../../text/index.js';
import { type DateValue, readDates } from './dates.js';
import { ENGLISH } from './english.js';
import { readNumber, readOrdinal } from './numbers.js';
import { compact, hasMeantSigns, readAddresses, readPhone, readSpelling, signed } from './spelling.js';
import { readTimes, type TimeValue, type Zoned } from './times.js';
import type { ValueWords } from './value-words.js';

/** The languages in which values are read. */
export const LANGUAGES: readonly ValueWords[] = [ENGLISH];

type Plain =
  | { readonly kind: 'number' | 'percent' | 'ordinal'; readonly amount: number }
  /** Cents may be of several currencies. */
  | { readonly kind: 'money'; readonly amount: number; readonly currencies: readonly string[] }
  | { readonly kind: 'text' | 'phone'; readonly text: string }
  /** Said as "yes", or written as true or false. */
  | { readonly kind: 'answer'; readonly is: boolean; readonly isSaid: boolean };

/** One reading of a value; with `isPossible` it may be meant, and may not. */
export type Value = (Plain & { readonly isPossible?: true }) | TimeValue | DateValue;

/** All readings of a value. */
export interface Readings {
  readonly values: readonly Value[];
  /**
   * What else it may mean: nothing if a quantity or spelled characters were read, `text` for other words, `quantity` if they
   * say one that was not understood.
   */
  readonly rest: 'nothing' | 'text' | 'quantity';
  readonly hasFigures: boolean;
  /** The normalised words of a text; absent without any. */
  readonly text?: string;
}

/** Longer texts are only compared as texts. */
const MAX_READ = 200;
const AMOUNTS: ReadonlySet<Value['kind']> = new Set(['number', 'percent', 'money']);

export function readValue(value: unknown): Readings {
  if (typeof value === 'number') {
    const { values, hasFigures } = readValue(String(value));
    // JSON has lost the last digits of a long code.
    const isExact = Number.isSafeInteger(value) || !Number.isInteger(value);
    return {
      values: [{ kind: 'number', amount: value }, ...values],
      rest: isExact ? 'nothing' : 'quantity',
      hasFigures,
    };
  }
  if (typeof value !== 'string') {
    const json = JSON.stringify(value) ?? '';
    const text: Value[] = /^[[{]/.test(json) ? exact(json) : [{ kind: 'text', text: compact(json) }];
    const answer: Value[] = typeof value === 'boolean' ? [{ kind: 'answer', is: value, isSaid: false }] : [];
    // A time or a name in an object of its own is a form that is not read.
    return { values: [...text, ...answer], rest: /^[[{]/.test(json) ? 'text' : 'nothing', hasFigures: false };
  }
  const text = plainText(value);
  const read = text.length > MAX_READ ? [] : LANGUAGES.flatMap((table) => readIn(text, table));
  const hasFigures = /\d/.test(text);
  const rest = read.length > 0 || compact(text) === '' ? 'nothing' : restOf(text);
  // The signs of an amount have a meaning: "1.50" is not "150", and "$45" not "€45". Only digits may be a telephone number.
  const isAmount = read.some(({ kind }) => AMOUNTS.has(kind)) && !/^\+?\d+$/.test(text);
  // So have those of an e-mail address and a time, but a recogniser may leave them out.
  const isExact = /@|^\d{1,2}:\d\d$/.test(text);
  const written = isExact ? exact(text) : isAmount ? [{ kind: 'text', text } as const] : withoutSigns(text);
  return { values: [...written, ...read], rest, hasFigures, ...(compact(text) !== '' && { text }) };
}

const withoutSigns = (text: string): Value[] => [
  { kind: 'text', text: signed(text) },
  { kind: 'text', text: compact(text), ...(hasMeantSigns(text) && { isPossible: true }) },
];

const exact = (text: string): Value[] => [
  { kind: 'text', text },
  { kind: 'text', text: compact(text), isPossible: true },
];

/** Normalised, with digits of any script as 0 to 9, and fractions in one character as figures. */
const plainText = (value: string): string =>
  normaliseText(value.replace(/[¼-¾⅐-⅞]/g, (character) => ` ${character.normalize('NFKC').replace('⁄', '/')}`))
    .replace(/(?!\d)\p{Nd}/gu, asciiDigit)
    .replace(/\bo clock\b/g, "o'clock")
    .replace(/[.,;:!?]+$/, '');

/** The digits of a script are ten characters in a row. */
function asciiDigit(digit: string): string {
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(digit.codePointAt(0)! - value - 1))) value++;
  return String(value);
}

function restOf(text: string): 'text' | 'quantity' {
  const words = text.split(/[ ,.-]+/);
  return LANGUAGES.some((table) => words.some((word) => saysQuantity(word, table))) ? 'quantity' : 'text';
}

function saysQuantity(word: string, table: ValueWords): boolean {
  const { units, tens, scales, ordinals, fractions, numberSigns, hundredths } = table;
  const names = [units, tens, scales, ordinals, fractions, numberSigns, hundredths];
  return table.quantities.has(word) || names.some((each) => Object.hasOwn(each, word));
}

function readIn(text: string, table: ValueWords): Value[] {
  const words = text.split(/[ -]+/);
  const amount = readAmount(text, table);
  const percent = table.percent.test(text) ? readAmount(text.replace(table.percent, ''), table) : undefined;
  const ordinal = readOrdinal(words, table);
  const money = readMoney(text, table);
  const spelling = readSpelling(text, table);
  const phone = readPhone(text, spelling?.text, table);
  const answer = table.answers[text] ?? (text === 'true' || text === 'false' ? text === 'true' : undefined);
  const [, dayPart, timePart] = /^(\d{4}-\d\d-\d\d)[t ](\d\d:\d\d)/.exec(text) ?? [];
  const [, offset] = /^[\d-]+t[\d:.]+(z|[+-]\d\d:?\d\d)$/.exec(text) ?? [];
  const zoned = offset === undefined ? {} : { zoned: { offset, atMs: Date.parse(text.toUpperCase()) } };
  const moment = dayPart === undefined ? undefined : momentOf(dayPart, timePart!, zoned, table);
  const read: (Value | undefined)[] = [
    amount === undefined ? undefined : { kind: 'number', amount },
    percent === undefined ? undefined : { kind: 'percent', amount: percent },
    ordinal === undefined ? undefined : { kind: 'ordinal', amount: ordinal },
    phone === undefined ? undefined : { kind: 'phone', text: phone },
    answer === undefined ? undefined : { kind: 'answer', is: answer, isSaid: Object.hasOwn(table.answers, text) },
    money,
    ...otherAmounts(text, table),
    ...(moment ?? [...readTimes(text, table), ...readDates(text, table)]),
    ...(spelling ? spelledValues(spelling) : []),
    ...readAddresses(text, table).flatMap((address) => exact(address.includes('@') ? address : compact(address))),
  ];
  return read.filter((value) => value !== undefined);
}

/** A date with a time: the same as either, but both count against another one. */
function momentOf(day: string, time: string, zoned: { readonly zoned?: Zoned }, table: ValueWords): Value[] {
  const times = readTimes(time, table);
  const minutes = times[0]?.minutes;
  return [
    ...times.map((each) => ({ ...each, day, ...zoned })),
    ...readDates(day, table).map((each) => ({ ...each, ...(minutes !== undefined && { minutes }), ...zoned })),
  ];
}

const readAmount = (text: string, table: ValueWords): number | undefined =>
  readNumber([text], table) ?? readNumber(text.split(/[ -]+/), table);

const MAGNITUDES: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000, mn: 1_000_000 };

/** What may be meant: the other sense of "1.000", thousands by "five k", millions by "5m", the range of "ten to eleven". */
function otherAmounts(text: string, table: ValueWords): Value[] {
  const [, units, thousandths] = /^(\d{1,3})[.,](\d{3})$/.exec(text) ?? [];
  const [, count, magnitude] = /^(.+?) ?(k|mn?)$/.exec(text) ?? [];
  const amounts = [
    Number(`${units}${thousandths}`),
    Number(`${units}.${thousandths}`),
    magnitude === undefined ? NaN : (readAmount(count!, table) ?? NaN) * MAGNITUDES[magnitude]!,
  ];
  const [, from, to] = /^(\S+) ?(?:-| to ) ?(\S+)$/.exec(text) ?? [];
  const ends = [from, to].map((word) => (word === undefined ? undefined : readNumber([word], table)));
  const isRange = ends.every((end) => end !== undefined) && !(/-/.test(text) && /[a-z]/.test(text));
  return [
    ...amounts.filter(Number.isFinite).map((amount): Value => ({ kind: 'number', amount, isPossible: true })),
    ...(isRange ? [{ kind: 'text', text: ends.join(' to '), isPossible: true } as const] : []),
  ];
}

function spelledValues({ text, isPossible, hundredths }: NonNullable<ReturnType<typeof readSpelling>>): Value[] {
  const possible = isPossible ? ({ isPossible } as const) : {};
  const spelled: Value = { kind: 'text', text, ...possible };
  if (hundredths === undefined) return [spelled];
  const whole: Value = { kind: 'number', amount: Number(text), ...possible };
  return [spelled, whole, { kind: 'number', amount: hundredths, isPossible: true }];
}

function readMoney(text: string, table: ValueWords): Value | undefined {
  const symbols = Object.keys(table.currencies).sort((a, b) => b.length - a.length);
  const before = symbols.find((symbol) => text.startsWith(symbol) && isAmountStart(text.slice(symbol.length)));
  if (before !== undefined) return money(text.slice(before.length).trim(), before, '', table);
  // "45€", "forty-five euros and fifty cents"
  const words = text.replace(/(\d)([^\s\d.,'-])/g, '$1 $2').split(/[ -]+/);
  const cents = words.length > 1 ? table.hundredths[words.at(-1)!] : undefined;
  const amount = cents === undefined ? undefined : readNumber(words.slice(0, -1), table);
  if (cents !== undefined && amount !== undefined) return { kind: 'money', amount: amount / 100, currencies: cents };
  const position = words.findIndex((word) => table.currencies[word] !== undefined);
  if (position < 1) return undefined;
  return money(words.slice(0, position).join(' '), words[position]!, words.slice(position + 1).join(' '), table);
}

const isAmountStart = (text: string): boolean => /^ ?\d/.test(text);

function money(whole: string, currency: string, rest: string, table: ValueWords): Value | undefined {
  const millions = /^(.*\d) ?(?:m|mn)$/.exec(whole)?.[1];
  const amount = readAmount(millions ?? whole, table);
  const isNumberWord = (word: string): boolean => table.hundredths[word] === undefined && !table.fillers.has(word);
  const words = rest.split(/[ -]+/).filter((word) => word !== '' && isNumberWord(word));
  // "five dollars oh five"
  const cents = table.letters[words[0] ?? ''] === '0' ? words.slice(1) : words;
  const fraction = cents.length === 0 ? 0 : readNumber(cents, table);
  if (amount === undefined || fraction === undefined || fraction > 99) return undefined;
  const scale = millions === undefined ? 1 : 1_000_000;
  return { kind: 'money', amount: amount * scale + fraction / 100, currencies: [table.currencies[currency]!] };
}
