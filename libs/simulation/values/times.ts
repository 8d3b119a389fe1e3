import { readNumber } from './numbers.js';
import type { ValueWords } from './value-words.js';

/** A time of day. */
export interface TimeValue {
  readonly kind: 'time';
  /** Minutes since midnight. */
  readonly minutes: number;
  /** Whether it may as well be twelve hours later: no part of the day is said. */
  readonly isAmbiguous: boolean;
  readonly isPossible?: true;
  /** The day, for a time with a date. */
  readonly day?: string;
  readonly zoned?: Zoned;
}

/** The moment of a date and time with an offset to UTC. */
export interface Zoned {
  readonly offset: string;
  readonly atMs: number;
}

interface Clock {
  readonly hour: number;
  readonly minute: number;
  /** Whether the hour is one of 24. */
  readonly isExact?: boolean;
  readonly isPossible?: true;
}

/** All readings of a time of day: "half seven" is 7:30 in Britain and 6:30 elsewhere. */
export function readTimes(text: string, table: ValueWords): TimeValue[] {
  const part = table.dayParts.find(({ pattern }) => pattern.test(text));
  const rest = withoutFillers(part ? text.replace(part.pattern, '').trim() : text, table);
  const isHour = part !== undefined || text.startsWith(`${table.beforeHour} `);
  return readClocks(rest, table, isHour).flatMap(({ hour, minute, isExact, isPossible }) => {
    if (!Number.isInteger(hour) || !Number.isInteger(minute) || hour < 0 || hour > 24 || minute > 59) return [];
    const hours = part && hour <= 12 ? (hour % 12) + part.hours : hour % 24;
    // "07:30" and "13:30" are times of 24 hours.
    const isAmbiguous = !part && !isExact && hour > 0 && hour < 13 && !/^0\d/.test(rest);
    return [{ kind: 'time', minutes: hours * 60 + minute, isAmbiguous, ...(isPossible && { isPossible }) } as const];
  });
}

const withoutFillers = (text: string, table: ValueWords): string =>
  text
    .split(/[ -]/)
    .filter((word) => !table.fillers.has(word))
    .join(' ');

function readClocks(text: string, table: ValueWords, isHour: boolean): Clock[] {
  const figures = /^(\d{1,2})([:.h])(\d{2})(?::\d{2})?$/.exec(text) ?? /^(\d\d)()(\d\d)$/.exec(text);
  if (figures) {
    const [, hour, sign, minute] = figures;
    // "1.50" may be an amount, and "1930" a number.
    const isTime = isHour || sign === ':' || sign === 'h';
    return [{ hour: Number(hour), minute: Number(minute), ...(!isTime && { isPossible: true }) }];
  }
  // "10-11" is a range.
  if (/^\d{1,2} \d{1,2}$/.test(text)) return [];
  const words = text.split(' ').filter((word) => !/^minutes?$/.test(word));
  const clock = readClock(words, table, isHour);
  if (clock) return [clock];
  const hour =
    words.length === 2 && table.minuteFractions[words[0]!] === 30 ? hourOf(words.slice(1), table) : undefined;
  return hour === undefined
    ? []
    : [hour, { hour: before(hour.hour) }].map((each) => ({ ...each, minute: 30, isPossible: true }));
}

const before = (hour: number): number => (hour === 1 ? 12 : hour - 1);

function readClock(words: readonly string[], table: ValueWords, isHour: boolean): Clock | undefined {
  const direction = words.findIndex((word) => table.past.has(word) || table.to.has(word));
  if (direction > 0) return relative(words, direction, table);
  const [last, isPadded] = [words.at(-1) ?? '', table.letters[words[0] ?? ''] === '0'];
  const spoken = isPadded ? words.slice(1) : words;
  if (table.namedTimes[last] !== undefined) return hourOf(words, table);
  const [isNamedHour, hasHours] = [table.hourWords.has(last), last === table.hours];
  const hour = readNumber(isNamedHour || hasHours ? spoken.slice(0, -1) : spoken, table);
  const isMilitary = hour !== undefined && hour >= 100 && hour % 100 < 60 && (isPadded || hasHours);
  if (isMilitary) return { hour: Math.floor(hour / 100), minute: hour % 100, isExact: true };
  if (hour !== undefined && Number.isInteger(hour) && !hasHours)
    return isNamedHour || isHour ? { hour, minute: 0 } : undefined;
  const clock = hourAndMinute(spoken, table);
  return clock && isPadded ? { ...clock, isExact: true } : clock;
}

/** An hour in words, with "o'clock" or not, or a named one: "noon", "twelve noon". */
function hourOf(words: readonly string[], table: ValueWords): Clock | undefined {
  const named = table.namedTimes[words.at(-1) ?? ''];
  const said = words.filter((word) => !table.hourWords.has(word) && table.namedTimes[word] === undefined);
  const hour = said.length === 0 ? undefined : readNumber(said, table);
  if (named !== undefined) {
    return said.length === 0 || hour === 12 ? { hour: named / 60, minute: 0, isExact: true } : undefined;
  }
  return hour === undefined ? undefined : { hour, minute: 0 };
}

/** "half past seven", "ten to eight", "quarter past noon". */
function relative(words: readonly string[], direction: number, table: ValueWords): Clock | undefined {
  const amount = words.slice(0, direction);
  const minute =
    amount.length === 1 ? (table.minuteFractions[amount[0]!] ?? readNumber(amount, table)) : readNumber(amount, table);
  const clock = hourOf(words.slice(direction + 1), table);
  if (minute === undefined || clock === undefined) return undefined;
  if (table.past.has(words[direction]!)) return { ...clock, minute };
  return { ...clock, hour: clock.isExact ? (clock.hour + 23) % 24 : before(clock.hour), minute: 60 - minute };
}

/** "seven thirty", "seven oh five". */
function hourAndMinute(words: readonly string[], table: ValueWords): Clock | undefined {
  for (let split = 1; split < words.length; split++) {
    const hour = readNumber(words.slice(0, split), table);
    const last = words.slice(split);
    const isPadded = table.letters[last[0]!] === '0';
    const minute = readNumber(isPadded ? last.slice(1) : last, table);
    if (hour === undefined || minute === undefined || hour > 24 || minute > 59) continue;
    if (isPadded === minute < 10) return { hour, minute };
  }
  return undefined;
}
