import { NUMBER_WORD, findIn, isCard, type PersonalDatum } from '../checks/personal-data.js';

/** What one side says without a pause. */
export interface Line {
  readonly speaker: string;
  readonly text: string;
}

/** Digits of a line, in figures or as words. */
interface Run {
  readonly line: number;
  readonly at: number;
  readonly text: string;
  readonly digits: number;
  /** Whether the line has nothing else. */
  readonly isAlone: boolean;
  /** Whether they look like a telephone number by themselves, as the second part of one may. */
  readonly isPhone: boolean;
}

export type NumbersAcross = ReadonlyMap<number, readonly PersonalDatum[]>;

const FIGURES = String.raw`\+?\(?\d(?:[ ().\/-]{0,2}\d)*\)?`;
const RUN = String.raw`(?:${FIGURES}|(?<!\p{L})${NUMBER_WORD}(?:[ ,.…-]{1,4}${NUMBER_WORD})*(?!\p{L}))`;
const FIRST = new RegExp(String.raw`^[\s"']*(?:(?:and|uh|um|er|then|so)[\s,.…]+)*(${RUN})`, 'iu');
const LAST = new RegExp(String.raw`(?<![\p{L}\d.,:])(${RUN})[\s.,;:!?…"')-]*$`, 'iu');
const ALL = new RegExp(RUN, 'giu');
/** Longer lines are read at both ends only: a number is shorter. */
const MOST_READ = 120;
/** A number has at most as many digits, and so at most as many parts. */
const MAX_DIGITS = 19;
/** In more lines of digits, numbers are looked for piece by piece. */
const MAX_PARTS = 100;
/** Digits of the shortest number, and of one with its area code. */
const SHORTEST = 7;
const WHOLE = 10;
/** Digits alone in as many lines in a row are dictated. */
const DICTATED = 4;

/**
 * Numbers of telephones and cards that one side says in several lines in a row, such as "My number is 0171" and "123 45 67". A
 * line of the other side in between, such as "Yes?", does not end the number.
 * @returns the whole number as `text`, at each of its parts, by the index of the line; it pauses before each line
 */
export function* numbersAcross(lines: readonly Line[]): Generator<undefined, NumbersAcross> {
  const found = new Map<number, PersonalDatum[]>();
  const add = (parts: readonly Run[]) => {
    for (const [{ line, at, text: part }, datum] of numbersIn(parts)) {
      found.set(line, [...(found.get(line) ?? []), { ...datum, at, length: part.length }]);
    }
  };
  let speaker: string | undefined;
  let parts: Run[] = [];
  for (const [index, line] of lines.entries()) {
    yield;
    if (line.text.trim() === '') continue;
    if (line.speaker !== speaker) {
      if (isAssent(line.text) && parts.length > 0) continue;
      add(parts);
      [speaker, parts] = [line.speaker, []];
    }
    const [first, last] = runsOf(line.text, index);
    if (first?.isAlone && parts.length < MAX_PARTS) {
      parts.push(first);
      continue;
    }
    add(first ? [...parts, first] : parts);
    parts = last ? [last] : [];
  }
  add(parts);
  return found;
}

/** The parts of numbers in a text, as `numbersAcross` found them. */
export const partsIn = (text: string, known: ReadonlyMap<string, PersonalDatum>): PersonalDatum[] =>
  known.size === 0
    ? []
    : [...text.matchAll(ALL)].flatMap(({ 0: part, index: at }) => {
        const datum = known.get(part);
        return datum ? [{ ...datum, at, length: part.length }] : [];
      });

/** "Mm-hmm.", "Go on", "Yes?": neither digits nor a question. */
const isAssent = (text: string): boolean => {
  const words = text.trim().split(/\s+/);
  return !/\p{N}/u.test(text) && (words.length === 1 || (words.length === 2 && !text.includes('?')));
};

/** The digits with which a line begins and ends, unless they are personal data by themselves. */
function runsOf(text: string, line: number): [first: Run | undefined, last: Run | undefined] {
  const [head, tail] = [text.slice(0, MOST_READ), text.slice(-MOST_READ)];
  const start = FIRST.exec(head);
  const end = LAST.exec(tail);
  const own = (start || end) && text.length >= SHORTEST ? findIn(text) : [];
  const run = (part: string, at: number, isAlone: boolean): Run | undefined => {
    const datum = own.find((each) => each.at < at + part.length && at < each.at + each.length);
    const isPhone = datum?.kind === 'phone' && datum.at === at && datum.length === part.length;
    const digits = /\d/.test(part) ? part.replace(/\D/g, '').length : part.split(/[ ,.…-]+/).length;
    return datum && !isPhone ? undefined : { line, at, text: part, digits, isAlone, isPhone };
  };
  const firstAt = start ? start[0].length - start[1]!.length : -1;
  const lastAt = end ? text.length - tail.length + end.index : -1;
  const isAlone = firstAt === lastAt && start?.[1] === end?.[1];
  return [start ? run(start[1]!, firstAt, isAlone) : undefined, end ? run(end[1]!, lastAt, isAlone) : undefined];
}

/** Each part of the numbers that are made of neighbouring parts. Of several, the longest. */
function numbersIn(parts: readonly Run[]): [Run, PersonalDatum][] {
  const found: [Run, PersonalDatum][] = [];
  for (let from = 0; from < parts.length - 1; from++) {
    for (let to = Math.min(parts.length, from + MAX_DIGITS); to >= from + 2; to--) {
      const used = parts.slice(from, to);
      const datum = numberOf(used);
      if (!datum) continue;
      found.push(...used.map((part): [Run, PersonalDatum] => [part, datum]));
      from = to - 1;
      break;
    }
  }
  return found;
}

function numberOf(parts: readonly Run[]): PersonalDatum | undefined {
  const digits = parts.reduce((sum, part) => sum + part.digits, 0);
  if (digits > MAX_DIGITS) return undefined;
  const joined = parts.map(({ text }) => text).join(' ');
  if (!isCard(joined) && !isPhone(parts, digits)) return undefined;
  return findIn(joined).find(({ kind, length }) => (kind === 'card' || kind === 'phone') && length === joined.length);
}

/** Whether the parts are dictated, and none of them is a number by itself beside a quantity, a time or a date. */
function isPhone(parts: readonly Run[], digits: number): boolean {
  if (parts.some((part) => part.isPhone)) {
    return parts.every((part) => (part.isPhone ? part.digits < WHOLE : !isOrdinary(part)));
  }
  if (parts.length >= DICTATED) return true;
  const odd = parts.filter((part) => !isOrdinary(part));
  return (
    odd.some(({ isAlone }) => isAlone) || (odd.length > 0 && digits >= WHOLE && parts.some(({ isAlone }) => isAlone))
  );
}

/** Whether digits may be a quantity, a time, a date or a year. */
function isOrdinary({ text, digits }: Run): boolean {
  const groups = text.match(/\d+/g);
  if (!groups) return digits < 3;
  const [first, second, third] = groups.map(Number) as [number, number?, number?];
  if (groups.length === 1) return text.length <= 2 || /^(?:[01]\d|2[0-3])[0-5]\d$|^(?:19|20)\d\d$/.test(text);
  if (groups.length > 3 || second === undefined || groups.slice(0, 2).some(({ length }) => length > 2)) return false;
  const isTime = first < 24 && second < 60 && (third === undefined || third < 60);
  const isDate = Math.min(first, second) <= 12 && Math.max(first, second) <= 31;
  return isTime || isDate;
}
