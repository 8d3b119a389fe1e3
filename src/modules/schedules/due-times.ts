import { Cron } from 'croner';
import type { ScheduleEntity } from './schedule.entity.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** No clock is moved by more at once. */
const LONGEST_SHIFT_MS = 3 * HOUR_MS;
const LEAST_GAP_MS = 5 * MINUTE_MS;
/** Due times that are looked at when a schedule is stored. */
const LOOKED_AT = 500;
const RULE =
  'must have five fields (minute, hour, day of the month, month, day of the week) of numbers, names and * , - /';
const MONTHS = 'JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC';
const DAYS = 'SUN|MON|TUE|WED|THU|FRI|SAT';

/** Five fields of numbers, names and `* , - /`. */
const FIVE_FIELDS = ['', '', '', MONTHS, DAYS].map((names) => {
  const value = names === '' ? String.raw`\d{1,2}` : String.raw`(?:\d{1,2}|${names})`;
  const part = String.raw`(?:(?:\*|${value}-${value})(?:/\d{1,2})?|${value})`;
  return new RegExp(`^${part}(?:,${part})*$`, 'i');
});

/** Whether a text is the name of an IANA time zone; an offset such as `+02:00` is none. */
export function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return /^[a-z]/i.test(text);
  } catch {
    return false;
  }
}

/** When a schedule is due: cron in a time zone, with the rules of docs/guides/schedules.md for changes of the clock. */
export class DueTimes {
  private readonly walls: Cron;
  /** One time of day, which happens once on each of its days. */
  private readonly isFixed: boolean;
  /** Has an interval, which goes on when an hour is repeated. */
  private readonly isSteady: boolean;
  private readonly format: Intl.DateTimeFormat;

  /** @throws Error for a pattern that `checkCron` refuses */
  constructor(cron: string, timeZone: string) {
    const [minute = '', hour = ''] = cron.trim().split(/\s+/);
    this.isFixed = /^\d+$/.test(minute) && /^\d+$/.test(hour);
    this.isSteady = /[*/]/.test(minute + hour);
    // Croner computes times on the wall, as if of UTC: it moves fixed times in a gap by a whole hour in every zone.
    this.walls = new Cron(cron, { timezone: 'UTC' });
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  }

  /** The first due time after a moment, in milliseconds since the epoch; undefined if there is none. */
  after(moment: number): number | undefined {
    return this.upcoming(moment, 1)[0];
  }

  /** The next due times after a moment, at most this many. */
  upcoming(moment: number, count: number): number[] {
    const found: number[] = [];
    for (const time of this.all(moment)) {
      found.push(time);
      if (found.length === count) break;
    }
    return found;
  }

  /** All due times after a moment, in order. */
  *all(moment: number): Generator<number> {
    const near = [moment - LONGEST_SHIFT_MS, moment, moment + LONGEST_SHIFT_MS].map((at) => this.offset(at));
    let found: number[] = [];
    let wall = this.walls.nextRun(new Date(moment + Math.min(...near) - 1));
    for (; wall; wall = this.walls.nextRun(wall)) {
      const times = this.moments(wall.getTime());
      found = [...found, ...times].filter((time) => time > moment).sort((a, b) => a - b);
      // Later times on the wall happen later than this one for the first time.
      while (times[0] !== undefined && found[0] !== undefined && found[0] <= times[0]) yield found.shift()!;
    }
    yield* found;
  }

  /** The day of a moment in the time zone. */
  dayOf(moment: number): string {
    return new Date(moment + this.offset(moment)).toISOString().slice(0, 10);
  }

  /** When a time on the wall is due: once, not at all, or in both of its hours. */
  private moments(wall: number): number[] {
    const before = wall - this.offset(wall - DAY_MS);
    const after = wall - this.offset(wall + DAY_MS);
    const times = [...new Set([before, after])].filter((time) => time + this.offset(time) === wall);
    // In a gap, the offset before it gives the time that is later by the gap.
    if (times.length === 0) return this.isFixed ? [before] : [];
    return this.isSteady ? times : times.slice(0, 1);
  }

  private offset(moment: number): number {
    const parts = this.format.formatToParts(moment);
    const [month, day, year, hour, minute, second] = parts.filter(({ type }) => type !== 'literal');
    const [Y, M, D, h, m, s] = [year, month, day, hour, minute, second].map((part) => Number(part?.value));
    return Date.UTC(Y!, M! - 1, D, h, m, s) - Math.floor(moment / 1000) * 1000;
  }
}

/** A pattern that can be used, or what is wrong with it: the rest of a sentence that begins with the field. */
export type CheckedCron = { readonly violation: string } | { readonly mostPerWeek: number };

/** @param timeZone a valid one @returns for a valid pattern, the most due times in seven days */
export function checkCron(cron: string, timeZone: string, now: number): CheckedCron {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5 || fields.some((field, at) => !FIVE_FIELDS[at]!.test(field))) return { violation: RULE };
  let times: number[];
  try {
    times = new DueTimes(cron, timeZone).upcoming(now, LOOKED_AT);
  } catch (error) {
    return { violation: `must be valid: ${(error as Error).message.replace(/^CronPattern: /, '')}` };
  }
  if (times.length === 0) return { violation: 'must have a next time: it is never due' };
  if (times.some((time, at) => time - (times[at - 1] ?? -Infinity) < LEAST_GAP_MS)) {
    return { violation: 'must leave at least 5 minutes between its runs' };
  }
  const most = (span: number) =>
    Math.max(...times.map((first, at) => times.slice(at).filter((time) => time < first + span).length));
  const isCovered = times.length < LOOKED_AT || times.at(-1)! - times[0]! >= 7 * DAY_MS;
  return { mostPerWeek: isCovered ? most(7 * DAY_MS) : 7 * most(DAY_MS) };
}

const JITTER_SECONDS = 60;

/** When the run of a due time starts: less than a minute later, so that schedules of the same minute are spread. */
export const startOf = (scheduleId: string, due: number): number =>
  due + (Number.parseInt(scheduleId.slice(0, 8), 16) % JITTER_SECONDS) * 1000;

/** The columns of the next due time. */
export const dueColumns = (scheduleId: string, due: number): Pick<ScheduleEntity, 'dueAt' | 'startsAt'> => ({
  dueAt: new Date(due),
  startsAt: new Date(startOf(scheduleId, due)),
});
