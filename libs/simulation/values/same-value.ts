import type { DateValue } from './dates.js';
import { type Readings, readValue, type Value } from './readings.js';
import type { TimeValue } from './times.js';
import { areRelatedWords, haveOtherFigures, isCode } from './word-forms.js';

/** Whether two values are the same; unknown if one of them is ambiguous or is not understood. */
export type Sameness = 'same' | 'unknown' | 'different';

/** What values are, if it is known: the letters of a name count. */
export type ValueKind = 'name' | undefined;

/**
 * Compares two values, however they are written or spoken: they are the same if any reading of both is. Other words than a table
 * reads are different only where `kind` says that they are names.
 */
export function compareValues(a: unknown, b: unknown, kind?: ValueKind): Sameness {
  if (isSmallNested(a) && isSmallNested(b)) return compareNested(a, b, kind);
  const [first, second] = [readValue(a), readValue(b)];
  let isPossible = mayMean(first, second) || mayMean(second, first) || mayBeForms(first, second, kind);
  for (const one of first.values) {
    for (const other of second.values) {
      const found = compare(one, other);
      if (found === 'same' && !one.isPossible && !other.isPossible) return 'same';
      if (found !== 'different') isPossible = true;
    }
  }
  return isPossible ? 'unknown' : 'different';
}

/** Larger ones are only compared as texts: each value in them takes time. */
const MAX_NESTED = 2_000;

const isSmallNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && JSON.stringify(value).length <= MAX_NESTED;

/** Lists and objects are the same if they have the same values in the same places. */
function compareNested(a: object, b: object, kind: ValueKind): Sameness {
  const [all, others] = [Object.entries(a), new Map(Object.entries(b))];
  if (Array.isArray(a) !== Array.isArray(b) || all.length !== others.size) return 'different';
  const found = all.map(([name, value]) =>
    others.has(name) ? compareValues(value, others.get(name), kind) : 'different',
  );
  return found.find((one) => one === 'different') ?? found.find((one) => one === 'unknown') ?? 'same';
}

/** Whether two values are certainly the same, however they are written or spoken. */
export const areSameValues = (a: unknown, b: unknown): boolean => compareValues(a, b) === 'same';

/** Whether the words of one that were not understood may mean what the other says. */
function mayMean({ rest }: Readings, other: Readings): boolean {
  if (rest === 'nothing') return false;
  if (other.values.some(({ kind }) => kind !== 'text')) return true;
  return rest === 'quantity' && (other.rest === 'quantity' || other.hasFigures);
}

/** Whether two values without a reading in common may be forms of one, because the words of at least one are not read. */
function mayBeForms(a: Readings, b: Readings, kind: ValueKind): boolean {
  const [unread, other] = a.rest === 'nothing' ? [b, a] : [a, b];
  if (unread.rest === 'nothing') return false;
  if (unread.text === undefined || other.text === undefined)
    return other.rest !== 'nothing' || other.text !== undefined;
  const isExact = (isAddress(a) && isAddress(b)) || (isCode(unread.text) && isCode(other.text));
  // Spelled characters have one form.
  const isSpelled = other.rest === 'nothing' && !isAddress(other);
  if (isExact || haveOtherFigures(unread.text, other.text) || (isSpelled && !/\s/.test(unread.text))) return false;
  return kind === undefined || areRelatedWords(unread.text, other.text);
}

const isAddress = ({ values }: Readings): boolean =>
  values.some((one) => one.kind === 'text' && one.text.includes('@'));

function compare(a: Value, b: Value): Sameness {
  const found = acrossKinds(a, b) ?? acrossKinds(b, a) ?? acrossZones(a, b);
  if (found !== undefined) return found;
  switch (a.kind) {
    case 'text':
    case 'phone':
      return same(b.kind === a.kind && a.text === b.text && a.text !== '');
    case 'money':
      return same(
        b.kind === 'money' && areClose(a.amount, b.amount) && a.currencies.some((one) => b.currencies.includes(one)),
      );
    case 'time':
      return b.kind === 'time' ? compareTimes(a, b) : 'different';
    case 'date':
      return b.kind === 'date' ? compareDates(a, b) : 'different';
    case 'answer':
      // "Yes" and "correct" are the same only for a value that is true or false.
      return same(b.kind === 'answer' && a.is === b.is && !(a.isSaid && b.isSaid));
    default:
      return same(b.kind === a.kind && areClose(a.amount, b.amount));
  }
}

const same = (is: boolean): Sameness => (is ? 'same' : 'different');
const possible = (is: boolean): Sameness => (is ? 'unknown' : 'different');

/** Values of two kinds that may be the same; undefined for other kinds. */
function acrossKinds(a: Value, b: Value): Sameness | undefined {
  if (a.kind === 'number') {
    if (b.kind === 'money') return same(areClose(a.amount, b.amount));
    if (b.kind === 'time') return compareHour(a.amount, b);
    if (b.kind === 'percent') return possible(areClose(a.amount, b.amount) || areClose(a.amount * 100, b.amount));
    if (b.kind === 'ordinal') return possible(a.amount === b.amount);
    if (b.kind === 'date') return possible([b.year, b.month, b.day].includes(a.amount));
  }
  if (a.kind === 'ordinal' && b.kind === 'date') return possible(a.amount === b.day);
  // A number of the country: without its code, with a zero instead or not.
  if (a.kind === 'phone' && b.kind === 'text')
    return possible(/^0?[1-9]\d{5,}$/.test(b.text) && a.text.endsWith(b.text.replace(/^0/, '')));
  return undefined;
}

/** Moments with different offsets are the same one, or it is not known which place counts. */
function acrossZones(a: Value, b: Value): Sameness | undefined {
  const areMoments = (a.kind === 'date' || a.kind === 'time') && a.kind === b.kind;
  if (!areMoments || !a.zoned || !b.zoned || a.zoned.offset === b.zoned.offset) return undefined;
  return a.zoned.atMs === b.zoned.atMs ? 'same' : 'unknown';
}

const areClose = (a: number, b: number): boolean => Math.abs(a - b) < 1e-6;

/** "At seven" is 7:00 or 19:00. "Twelve" may be noon or midnight, "twenty" 20:00, and 1930 is 19:30 for some. */
function compareHour(number: number, { minutes }: TimeValue): Sameness {
  if (number > 0 && number < 12) return same(Number.isInteger(number) && minutes % 720 === number * 60);
  if (number === 12) return possible(minutes % 720 === 0);
  const military = number >= 1_000 ? Math.floor(number / 100) * 60 + (number % 100) : number * 60;
  return possible(number <= 2_400 && Number.isInteger(number) && military > 0 && military % 1440 === minutes);
}

function compareTimes(a: TimeValue, b: TimeValue): Sameness {
  if (a.day && b.day && a.day !== b.day) return 'different';
  if (a.minutes === b.minutes) return 'same';
  if (!(a.isAmbiguous || b.isAmbiguous) || a.minutes % 720 !== b.minutes % 720) return 'different';
  // "12:15" is after noon, unless it is meant without "am".
  return a.minutes < 60 || b.minutes < 60 ? 'unknown' : 'same';
}

/** What both say must be the same, and they must have something in common. */
function compareDates(a: DateValue, b: DateValue): Sameness {
  const fields = ['year', 'month', 'day', 'weekday', 'minutes'] as const;
  const common = fields.filter((field) => a[field] !== undefined && b[field] !== undefined);
  const areSame = common.length > 0 && common.every((field) => a[field] === b[field]);
  // "4/12/2026" has a reading for each order. Two such dates are compared in the same order; with another date, equality is only
  // possible.
  return a.order === b.order ? same(areSame) : possible(areSame);
}
