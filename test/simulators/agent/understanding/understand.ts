import type { Day, Facts } from '../restaurant.js';
import { extractDay } from './dates.js';
import { NUMBER, numberOf, extractPhone } from './numbers.js';
import { extractTime } from './times.js';

/** The details of a booking. */
export interface Details {
  readonly day?: Day;
  readonly time?: string;
  readonly people?: number;
  readonly name?: string;
  readonly phone?: string;
}
export type Detail = keyof Details;

/** The detail that the agent last asked for. */
export type Question = Detail | 'consent' | 'change' | 'reference' | 'else';

/** What the agent understood in one turn of the caller. */
export interface Understanding {
  readonly details: Details;
  readonly facts: readonly (keyof Facts)[];
  /** Reference of a booking. */
  readonly reference?: string;
  readonly isSilent: boolean;
  readonly says: Readonly<Record<Intent, boolean>>;
}

const INTENTS = {
  book: /\b(?:book|reserve|reservation|table|booking)\b/i,
  cancel: /\bcancel\b[^.?!]{0,40}\b(?:booking|reservation|table|it|that)\b|\bcancel\s+BV/i,
  decline:
    /\b(?:never ?mind|forget (?:it|about it)|don'?t (?:want|need)[^.?!]{0,30}\b(?:any ?more|any longer|after all|a table)|do not (?:want|need)[^.?!]{0,30}\b(?:any ?more|any longer|after all|a table)|don'?t book|do not book)\b/i,
  reconsider: /\bchanged my mind\b/i,
  yes: /^\W*(?:yes|yeah|yep|sure|correct|right|exactly|perfect|please do|ok(?:ay)?|that'?s (?:right|correct|fine)|fine|go ahead|sounds good|book it)\b|\b(?:yes|go ahead|book it|that'?s (?:right|correct))\b/i,
  no: /^\W*(?:no|nope|nah)\b|\b(?:not (?:right|correct|quite)|wrong)\b/i,
  goodbye:
    /\b(?:good ?-?bye|bye|that'?s all|that is all|that would be all|nothing else|see you|have a (?:nice|good|lovely))\b/i,
  thanks: /\b(?:thanks|thank you|cheers)\b/i,
  prompt:
    /\b(?:system prompt|your (?:prompt|instructions?|rules|guidelines|configuration)|(?:previous|prior|above|earlier) instructions?|what were you told|staff password|developer mode)\b/i,
  repeat: /\b(?:say (?:that|it) again|repeat|pardon|didn'?t (?:catch|hear|understand))\b/i,
  howAreYou: /\bhow are you\b/i,
  robot:
    /\b(?:are you|am i (?:talking|speaking) (?:to|with)) (?:a |an )?(?:real |actual )?(?:human|robot|machine|bot|ai|person|computer)\b/i,
  joke: /\bjoke\b/i,
  weather: /\b(?:weather|sunny|raining)\b/i,
  greeting: /^\W*(?:hello|hi|hey|good (?:morning|afternoon|evening|day))\b/i,
} satisfies Readonly<Record<string, RegExp>>;
export type Intent = keyof typeof INTENTS;

const FACT_QUESTIONS: Readonly<Record<keyof Facts, RegExp>> = {
  hours:
    /\b(?:opening (?:hours|times)|(?:when|what time|how late|until when|how long)[^.?!]{0,20}\b(?:open|close)|are you (?:open|closed)|hours)\b/i,
  address:
    /\b(?:address|where (?:are you|is (?:the|your) restaurant|do i find you)|how do i (?:get|find) (?:there|you))\b/i,
  vegan: /\b(?:vegan|vegetarian|plant[ -]based)\b/i,
  parking: /\b(?:park|parking|car park)\b/i,
};

/** Maximum length of a turn, to limit the work; the rest is ignored. */
const MAX_LENGTH = 2_000;
/** Markers of silence in transcripts. */
const SILENCE_MARK = /[[(](?:silence|no answer|inaudible)[\])]/gi;
const WORD_CHARACTER = /[\p{L}\p{N}]/u;
const REFERENCE = /\bBV[ -]?(\d{4})\b/i;
/** Phrases that mention something only to exclude it. */
const RULED_OUT = new RegExp(
  `\\b(?:not|instead of|rather than) (?:at |on |for |a table for )?(?:${NUMBER}(?: people)?|\\w+day|half past ${NUMBER})\\b`,
  'gi',
);

const NOT_A_TIME = "(?!\\s*(?:[:.]\\d|[ap]\\.?m\\b|o'?clock|thirty|fifteen|forty|(?:st|nd|rd|th)\\b))";
const PEOPLE = [
  new RegExp(`\\b(${NUMBER}) (?:people|persons|guests|adults|of us|seats|pax)\\b`, 'i'),
  new RegExp(`\\b(?:party|group|table|booking|reservation) (?:of|for) (${NUMBER})\\b${NOT_A_TIME}`, 'i'),
  new RegExp(
    `\\b(?:we are|we're|we will be|we'll be|there are|there will be|make (?:it|that)|for) (?:about |now )?(${NUMBER})\\b${NOT_A_TIME}`,
    'i',
  ),
];
const ALONE = /\b(?:just|only) (?:me|myself)\b|\b(?:by myself|on my own|alone)\b/i;
const ANY_NUMBER = new RegExp(`\\b(${NUMBER})\\b`, 'i');

const WORD = "[\\p{Lu}][\\p{L}'’-]*";
const NAMED = [
  new RegExp(
    `\\b(?:my name is|my name's|the name is|name's|name is|under the name(?: of)?|under) (${WORD}(?: ${WORD}){0,2})`,
    'u',
  ),
  new RegExp(`(?:^|[.!?,] )(?:I am|I'm|This is|this is) (${WORD}(?: ${WORD}){0,2})`, 'u'),
];
const NAME_FILLERS =
  /^(?:(?:yes|sure|of course|it's|it is|that's|that would be|the|my|name|is|please|under|for|okay|ok|well|um|uh)[\s,]+)*/i;

/** Interprets one turn of the caller, given what the agent asked. */
export function understand(text: string, asked: Question | undefined, now: number): Understanding {
  const said = text.slice(0, MAX_LENGTH).replaceAll('’', "'").replace(/\s+/g, ' ').trim();
  const says = Object.fromEntries(
    Object.entries(INTENTS).map(([intent, pattern]) => [intent, pattern.test(said)]),
  ) as Record<Intent, boolean>;
  const facts = (Object.keys(FACT_QUESTIONS) as (keyof Facts)[]).filter((fact) => FACT_QUESTIONS[fact].test(said));
  const digits = REFERENCE.exec(said)?.[1] ?? (asked === 'reference' ? /\b(\d{4})\b/.exec(said)?.[1] : undefined);
  return {
    details: digits === undefined ? readDetails(said, asked, now, facts.length > 0) : {},
    facts,
    ...(digits !== undefined && { reference: `BV-${digits}` }),
    isSilent: !WORD_CHARACTER.test(said.replace(SILENCE_MARK, '')),
    says,
  };
}

function readDetails(said: string, asked: Question | undefined, now: number, isQuestion: boolean): Details {
  // "Are you open on Monday?" is a question, not a request.
  if (isQuestion && !INTENTS.book.test(said)) return {};
  const { day, rest: afterDay } = extractDay(said.replace(RULED_OUT, ' '), now);
  const { phone, rest: afterPhone } = extractPhone(afterDay);
  const { time, rest } = extractTime(afterPhone, asked === 'time');
  const people = readPeople(rest, asked === 'people');
  const others = day ?? time ?? people ?? phone;
  const name = readName(said, asked === 'name' && others === undefined);
  return {
    ...(day && { day }),
    ...(time !== undefined && { time }),
    ...(people !== undefined && { people }),
    ...(name !== undefined && { name }),
    ...(phone !== undefined && { phone }),
  };
}

function readPeople(text: string, isAsked: boolean): number | undefined {
  for (const pattern of isAsked ? [...PEOPLE, ANY_NUMBER] : PEOPLE) {
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return numberOf(found);
  }
  return ALONE.test(text) ? 1 : undefined;
}

function readName(said: string, isAsked: boolean): string | undefined {
  for (const pattern of NAMED) {
    const found = pattern.exec(said)?.[1];
    if (found !== undefined) return found;
  }
  if (!isAsked || INTENTS.repeat.test(said) || said.includes('?')) return undefined;
  const name =
    said
      .replace(NAME_FILLERS, '')
      .split(/[,.!;]/)[0]
      ?.trim() ?? '';
  const words = name.split(' ');
  if (name === '' || words.length > 3 || !/^[\p{L}'-]+(?: [\p{L}'-]+)*$/u.test(name)) return undefined;
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
}
