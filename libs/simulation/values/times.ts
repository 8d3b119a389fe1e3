import { readNumber } from './numbers.js';
import type { ValueWords } from './value-words.js';

/** A time of day. */
export interface TimeValue {
  readonly kind: 'time';
  /** Minutes since midnight. */
  readonly minutes: number;
  /** Whether it may as well be twelve hours later: no part of the day is said. */
  readonly isAmbiguous: boolean;
}

export function readTime(text: string, table: ValueWords): TimeValue | undefined {
  const named = table.namedTimes[text];
  if (named !== undefined) return { kind: 'time', minutes: named, isAmbiguous: false };
  const part = table.dayParts.find(({ pattern }) => pattern.test(text));
  const rest = withoutFillers(part ? text.replace(part.pattern, '').trim() : text, table);
  const clock = readClock(rest, table, part !== undefined);
  if (!clock) return undefined;
  const [hour, minute] = clock;
  if (hour > 24 || minute > 59 || (part && hour > 12)) {
    return part && hour <= 24 ? { kind: 'time', minutes: hour * 60 + minute, isAmbiguous: false } : undefined;
  }
  const hours = part ? (hour % 12) + part.hours : hour % 24;
  // "07:30" and "13:30" are times of 24 hours.
  const isAmbiguous = !part && hour > 0 && hour < 13 && !/^0\d/.test(rest);
  return { kind: 'time', minutes: hours * 60 + minute, isAmbiguous };
}

const withoutFillers = (text: string, table: ValueWords): string =>
  text
    .split(/[ -]/)
    .filter((word) => !table.fillers.has(word))
    .join(' ');

/** Hour and minute. */
function readClock(text: string, table: ValueWords, hasPart: boolean): readonly [number, number] | undefined {
  const figures = /^(\d{1,2})[:.h](\d{2})(?::\d{2})?$/.exec(text);
  if (figures) return [Number(figures[1]), Number(figures[2])];
  const words = text.split(/[ -]/).filter((word) => !/^minutes?$/.test(word));
  const direction = words.findIndex((word) => table.past.has(word) || table.to.has(word));
  if (direction > 0) return relative(words, direction, table);
  const isHour = table.hourWords.has(words.at(-1) ?? '');
  if (isHour) words.pop();
  const hour = readNumber(words, table);
  if (hour !== undefined && Number.isInteger(hour)) return isHour || hasPart ? [hour, 0] : undefined;
  return hourAndMinute(words, table);
}

/** "half past seven", "ten to eight". */
function relative(
  words: readonly string[],
  direction: number,
  table: ValueWords,
): readonly [number, number] | undefined {
  const amount = words.slice(0, direction);
  const minute =
    amount.length === 1 ? (table.minuteFractions[amount[0]!] ?? readNumber(amount, table)) : readNumber(amount, table);
  const hour = readNumber(
    words.slice(direction + 1).filter((word) => !table.hourWords.has(word)),
    table,
  );
  if (minute === undefined || hour === undefined) return undefined;
  return table.past.has(words[direction]!) ? [hour, minute] : [hour === 1 ? 12 : hour - 1, 60 - minute];
}

/** "seven thirty", "seven oh five". */
function hourAndMinute(words: readonly string[], table: ValueWords): readonly [number, number] | undefined {
  for (let split = 1; split < words.length; split++) {
    const hour = readNumber(words.slice(0, split), table);
    const last = words.slice(split);
    const isPadded = table.letters[last[0]!] === '0';
    const minute = readNumber(isPadded ? last.slice(1) : last, table);
    if (hour === undefined || minute === undefined || hour > 24 || minute > 59) continue;
    if (isPadded === minute < 10) return [hour, minute];
  }
  return undefined;
}
