import { NUMBER, NUMBER_WORD, numberOf, without } from './numbers.js';

const HALF_DAY = '(?:\\s*([ap])\\.?m\\b\\.?)?';
const DIGITS = new RegExp(`\\b([01]?\\d|2[0-3])[:.h]([0-5]\\d)\\b${HALF_DAY}`, 'i');
const RELATIVE = new RegExp(`\\b(half past|quarter past|quarter to)\\s+(${NUMBER})\\b${HALF_DAY}`, 'i');
const FULL_HOUR = new RegExp(`\\b(${NUMBER})\\s*(?:o'?\\s?clock\\b|([ap])\\.?m\\b\\.?)`, 'i');
const IN_WORDS = new RegExp(
  `\\b(${NUMBER_WORD})[ -](fifteen|thirty|forty[ -]five|twenty|forty|ten|fifty)\\b${HALF_DAY}`,
  'i',
);
const AT_HOUR = new RegExp(
  `\\b(?:at|around|about|by)\\s+(${NUMBER})\\b(?!\\s*(?:people|persons|guests|of us|days|hours))`,
  'i',
);
const NOON = /\b(?:at )?(?:noon|midday)\b/i;
const BARE = new RegExp(`^\\W*(${NUMBER})\\b`, 'i');

const MINUTES: Readonly<Record<string, number>> = {
  ten: 10,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  forty: 40,
  'forty five': 45,
  fifty: 50,
};
const OFFSETS: Readonly<Record<string, number>> = { 'half past': 30, 'quarter past': 15, 'quarter to': -15 };
/** Without "am" or "pm", hours up to this one are in the afternoon: the restaurant is closed at night. */
const LATEST_AMBIGUOUS_HOUR = 9;

/**
 * Extracts a time of day as `HH:MM`, and returns it with the rest of the text.
 * @param isAsked whether the agent asked for it, so that a bare number means the hour
 */
export function extractTime(text: string, isAsked: boolean): { time?: string; rest: string } {
  const digits = DIGITS.exec(text);
  if (digits) return taken(text, digits, Number(digits[1]), Number(digits[2]), digits[3]);
  const relative = RELATIVE.exec(text);
  if (relative) {
    const offset = OFFSETS[(relative[1] ?? '').toLowerCase()] ?? 0;
    return taken(text, relative, numberOf(relative[2] ?? ''), offset, relative[3]);
  }
  const fullHour = FULL_HOUR.exec(text);
  if (fullHour) return taken(text, fullHour, numberOf(fullHour[1] ?? ''), 0, fullHour[2]);
  const words = IN_WORDS.exec(text);
  if (words) {
    const minutes = MINUTES[(words[2] ?? '').toLowerCase().replace('-', ' ')] ?? 0;
    return taken(text, words, numberOf(words[1] ?? ''), minutes, words[3]);
  }
  const noon = NOON.exec(text);
  if (noon) return taken(text, noon, 12, 0, undefined);
  const hour = AT_HOUR.exec(text) ?? (isAsked ? BARE.exec(text) : null);
  return hour ? taken(text, hour, numberOf(hour[1] ?? ''), 0, undefined) : { rest: text };
}

function taken(text: string, found: RegExpExecArray, said: number, minutes: number, halfDay: string | undefined) {
  const half = halfDay?.toLowerCase() ?? named(text);
  if (said > 23) return { rest: text };
  const isAfternoon = half === 'p' || (half === undefined && said <= LATEST_AMBIGUOUS_HOUR && said > 0);
  const hour = isAfternoon && said < 12 ? said + 12 : half === 'a' && said === 12 ? 0 : said;
  const total = (hour * 60 + minutes + 1_440) % 1_440;
  const two = (part: number) => String(part).padStart(2, '0');
  return { time: `${two(Math.floor(total / 60))}:${two(total % 60)}`, rest: without(text, found) };
}

function named(text: string): 'a' | 'p' | undefined {
  if (/\b(?:evening|afternoon|tonight|night)\b/i.test(text)) return 'p';
  return /\bmorning\b/i.test(text) ? 'a' : undefined;
}
