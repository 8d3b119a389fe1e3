import { type Day, WEEKDAYS } from '../restaurant.js';
import { without } from './numbers.js';

const DAY_MS = 86_400_000;
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
const MONTH = `(${MONTHS.join('|')})`;
const ISO = /\b(\d{4})-(\d{2})-(\d{2})\b/;
const DAY_MONTH = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH}(?:,? (\\d{4}))?\\b`, 'i');
const MONTH_DAY = new RegExp(`\\b${MONTH} (?:the )?(\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?\\b`, 'i');
const RELATIVE = /\b(day after tomorrow|tomorrow|today|tonight|this evening)\b/i;
const WEEKDAY = new RegExp(`\\b(${WEEKDAYS.join('|')})\\b`, 'i');

const AHEAD: Readonly<Record<string, number>> = { 'day after tomorrow': 2, tomorrow: 1 };

/** Extracts a day relative to `now`, and returns it with the rest of the text. A weekday is the next one after today. */
export function extractDay(text: string, now: number): { day?: Day; rest: string } {
  const iso = ISO.exec(text);
  if (iso) return taken(text, iso, dayOf(Number(iso[1]), Number(iso[2]) - 1, Number(iso[3])));
  const dayMonth = DAY_MONTH.exec(text);
  if (dayMonth) return taken(text, dayMonth, inYear(dayMonth[1], dayMonth[2], dayMonth[3], now));
  const monthDay = MONTH_DAY.exec(text);
  if (monthDay) return taken(text, monthDay, inYear(monthDay[2], monthDay[1], monthDay[3], now));
  const relative = RELATIVE.exec(text);
  if (relative?.[1] !== undefined) {
    return taken(text, relative, dayAt(now + (AHEAD[relative[1].toLowerCase()] ?? 0) * DAY_MS));
  }
  const weekday = WEEKDAY.exec(text);
  if (!weekday?.[1]) return { rest: text };
  const name = weekday[1].toLowerCase();
  const wanted = WEEKDAYS.findIndex((each) => each.toLowerCase() === name);
  const ahead = (wanted - new Date(now).getUTCDay() + 7) % 7;
  return taken(text, weekday, dayAt(now + (ahead === 0 ? 7 : ahead) * DAY_MS));
}

/** As spoken: `Friday 4 December`. */
export function spokenDay({ date, weekday }: Day): string {
  const [, month = '1', day = '1'] = date.split('-');
  const name = MONTHS[Number(month) - 1] ?? '';
  return `${weekday} ${Number(day)} ${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** Undefined for a day that does not exist, such as the 31st of June. */
const taken = (text: string, found: RegExpExecArray, day: Day | undefined) =>
  day ? { day, rest: without(text, found) } : { rest: text };

/** Without a year, the next occurrence of the day. */
function inYear(day = '', month = '', year: string | undefined, now: number): Day | undefined {
  const index = MONTHS.indexOf(month.toLowerCase());
  if (year !== undefined) return dayOf(Number(year), index, Number(day));
  const thisYear = new Date(now).getUTCFullYear();
  const soon = dayOf(thisYear, index, Number(day));
  return soon && soon.date < dayAt(now).date ? dayOf(thisYear + 1, index, Number(day)) : soon;
}

function dayOf(year: number, month: number, day: number): Day | undefined {
  const at = new Date(Date.UTC(year, month, day));
  return at.getUTCMonth() === month && at.getUTCDate() === day ? dayAt(at.getTime()) : undefined;
}

function dayAt(ms: number): Day {
  const at = new Date(ms);
  return { date: at.toISOString().slice(0, 10), weekday: WEEKDAYS[at.getUTCDay()] ?? 'Sunday' };
}
