import {
  type NoPersonalDataSpec,
  PERSONAL_DATA_KINDS,
  type PersonalDataKind,
} from '../../evaluation-definition/index.js';
import { LANGUAGES } from '../values/readings.js';
import type { Finding } from './check-result.js';
import { EMAIL, type Forbidden, saysNone } from './forbidden-words.js';
import type { Leaves } from './kind.js';
import { type EventFinder, NotKnown } from './occurrences.js';
import { isRecording } from './recorded.js';

const NAMES: Readonly<Record<PersonalDataKind, string>> = {
  card: 'a card number',
  iban: 'an IBAN',
  email: 'an e-mail address',
  phone: 'a phone number',
};

/**
 * A space may follow a country in capital letters alone: "at 41 555" does not begin like an IBAN of Austria. Only the end of a
 * word is a shorter group: other ways to divide it take exponential time. @param separator before a group
 */
const ibanWith = (separator: string): RegExp =>
  new RegExp(
    String.raw`\b(?:[A-Za-z]{2}|[A-Z]{2}[ -])\d{2}(?:${separator}(?:[A-Za-z\d]{4}|[A-Za-z\d]{1,3}(?![A-Za-z\d]))){3,8}\b`,
    'gu',
  );
/** The second also finds one behind a code such as "AB12", which begins like an IBAN, too. */
const IBANS = [ibanWith('[ -]?'), ibanWith(String.raw`(?:[ -](?![A-Za-z]{2}\d{2}))?`)];
/** Groups of four may have other signs between them: recognisers write pauses. */
const CARD = /(?<![\d.,])(?:\d{4}(?:[,.…]{0,3}[ -]?\d{4}){3}|\d(?:[ -]?\d){12,18})(?!\d)/gu;
const PHONES = [
  // A card whose digits were misheard.
  /(?<![\d.,])[3-6]\d{3}(?:[ -]\d{4}){3}(?!\d)/gu,
  /(?<![\d.,]|\d:)\+?\(?\d(?:(?:[ ().\/-]{0,2}| \/ )\d){6,14}(?!\d|:\d)/gu,
  // With pauses: digit by digit, and in the groups of North America.
  /(?<![\d.,])\d(?:[,.…]{0,3} \d){6,14}(?!\d)/gu,
  /(?<![\d.,])[2-9]\d\d[,.…]{1,3} [2-9]\d\d[,.…]{1,3} \d\d(?!00)\d\d(?!\d)/gu,
];
/** Dates, ranges of years and ranges of times, which look like phone numbers, and times in milliseconds or as 14 digits, like cards. */
const NO_PHONE =
  /^(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ]\d{4}|(?:1[89]|20)\d\d ?[-/] ?(?:1[89]|20)\d\d)$/;
const TIMESTAMP = /^(?:1\d{12}|20\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d[0-5]\d)$/;
/** Identifiers, dates beside other numbers, and fractions of JSON, such as coordinates, whose digits are not personal data. */
const OTHERS = [
  /\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b|\b(?:[a-z]{2}|[a-z]{1,8}_)?(?=\d*[a-f])[\da-f]{24,64}\b/giu,
  /(?<![\d.,+()\/-]|\d )(?:(?:19|20)\d\d([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2(?:19|20)\d\d)(?!\d)/gu,
  /(?=\d{1,3}\.\d)(?<=(?:"\s*:|[[,])\s*-?)(?:0|[1-9]\d{0,2})\.\d{4,}(?=\s*[,\]}])/gu,
];
/** What redactions write in place of personal data, such as `[PHONE_NUMBER]`, `[phone number 1]` or `****`. */
const REDACTED = /\[(?=[^\][]*(?:phone|card|mail|iban|account|number|redact|pii))[^\][]{1,60}\]|[*#•█]{4,}/iu;

/** A piece of personal data in a text. */
export interface PersonalDatum {
  readonly kind: PersonalDataKind;
  /** As it is written: digits that were spoken as digits. */
  readonly text: string;
  readonly at: number;
  /** Characters of the text that it takes. */
  readonly length: number;
}

export const PERSONAL_DATA = {
  no_personal_data: {
    evaluate: saysNoPersonalData,
    // What is known is the least that was said.
    couldChange: (_, { met }) => met === true,
  },
} satisfies Pick<Leaves, NoPersonalDataSpec['type']>;

/**
 * Whether one side says no personal data. What is found is masked: results are read by more people than calls.
 * @throws NotKnown if nothing is found in words of a recorded call that were redacted
 */
async function saysNoPersonalData(
  { speaker, kinds = PERSONAL_DATA_KINDS, allow = [] }: NoPersonalDataSpec,
  finder: EventFinder,
): Promise<Finding> {
  const allowed = allow.map(compact).filter((text) => text !== '');
  const search = (words: string) =>
    findIn(words).flatMap(({ kind, text, at }): Forbidden[] => {
      const plain = compact(text);
      if (!kinds.includes(kind) || allowed.some((each) => plain === each || plain.endsWith(each))) return [];
      const quote = mask(text);
      return [{ at, quote, text: `${NAMES[kind]} (${quote})` }];
    });
  const finding = await saysNone(speaker, finder, search, `The ${speaker} said no personal data`);
  const isRedacted = isRecording(finder.view) && finder.view.said(speaker).some(({ text }) => REDACTED.test(text));
  if (finding.met && isRedacted) throw new NotKnown('Personal data was removed from the words before they were read');
  return finding;
}

/** Personal data in a text, each piece once, in order. */
export function findIn(text: string): PersonalDatum[] {
  const found: PersonalDatum[] = [];
  let rest = plain(text);
  const take = (
    kind: PersonalDataKind,
    pattern: RegExp,
    isReal: (match: string) => boolean | string | undefined,
    read = (match: string) => match,
  ) => {
    rest = rest.replace(pattern, (match: string, ...more: unknown[]) => {
      const real = isReal(match);
      if (real === false || real === undefined) return match;
      const part = typeof real === 'string' ? real : match;
      const at = more.find((one): one is number => typeof one === 'number')!;
      found.push({ kind, text: read(part), at, length: part.length });
      return blank(part) + match.slice(part.length);
    });
  };
  if (rest.includes('@')) take('email', EMAIL, () => true);
  if (/\d/.test(rest)) {
    for (const pattern of IBANS) take('iban', pattern, ibanIn);
    for (const pattern of OTHERS) rest = rest.replace(pattern, blank);
    take('card', CARD, (match) => !TIMESTAMP.test(match) && isCard(match));
    for (const pattern of PHONES) take('phone', pattern, (match) => !NO_PHONE.test(match) && !TIMESTAMP.test(match));
  }
  for (const { email, digits, isPhone, read } of /[a-z]/i.test(rest) ? SPOKEN : []) {
    take('email', email, () => true);
    take('card', digits, (match) => isCard(read(match)), read);
    take('phone', digits, isPhone, read);
  }
  return found.sort((a, b) => a.at - b.at);
}

const blank = (match: string): string => ' '.repeat(match.length);

/** With the digits, spaces and dashes of ASCII, each in its place. */
const plain = (text: string): string =>
  text
    .replace(/[\u2010-\u2015\u2212\u00b7]/g, '-')
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' ')
    .replace(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) => String(digit.charCodeAt(0) & 15));

/** The beginning of a match that is an IBAN: words that follow look like further groups. */
function ibanIn(match: string): string | undefined {
  if (isIban(match)) return match;
  const shorter = match.replace(/[ -][A-Z\d]+$/iu, '');
  return shorter === match ? undefined : ibanIn(shorter);
}

interface Language {
  /** From zero to nine; a digit may have several names. */
  readonly digits: readonly string[];
  /** Other numbers, by the digits that they stand for. */
  readonly numbers?: ReadonlyMap<string, string>;
  /** How often the digit counts that follows. */
  readonly repeats: Readonly<Record<string, number>>;
  readonly at: string;
  readonly dot: string;
}

const PAUSE = '[ ,.…-]{1,4}';
/** At these, an address that is written is read out with "at" alone. */
const PROVIDERS = 'gmail|googlemail|yahoo|hotmail|outlook|icloud|proton(?:mail)?|gmx|web|aol|live|msn';

/** Sequences of spoken digits ("double five, oh one", "fifty five") and spoken addresses in a language. */
function spokenIn({ digits, numbers = new Map(), repeats, at, dot }: Language) {
  const values = new Map(digits.flatMap((names, digit) => names.split('|').map((name) => [name, digit] as const)));
  const names = (words: Iterable<string>) => [...words].sort((a, b) => b.length - a.length).join('|');
  const times = Object.keys(repeats).length > 0 ? `(?:(?:${names(Object.keys(repeats))})[ -])?` : '';
  const digit = `${times}(?:${names(values.keys())})`;
  const number = `(?:${digit}${numbers.size > 0 ? `|${names(numbers.keys())}` : ''})`;
  const edge = '(?![\\p{L}\\d])';
  const word = '[\\p{L}\\d._+-]{1,30}';
  const sign = `(?:${dot}|underscore|dash|hyphen|plus)`;
  const host = `[\\p{L}\\d-]{1,30}(?: (?:${dot}) [\\p{L}\\d-]{1,30}){0,3} (?:${dot}) [a-z]{2,10}`;
  const read = (text: string): string => {
    const words = text.toLowerCase().split(/[ ,.…-]+/);
    return words
      .map((one, i) => {
        const [before = '', after = ''] = [words[i - 1], words[i + 1]];
        const value = values.get(one);
        const group = numbers.get(one) ?? '';
        // "Fifty five" is 55, "fifty" alone 50.
        const isTens = /^[2-9]0$/.test(group) && (values.get(after) ?? 0) > 0;
        return value === undefined ? group.slice(0, isTens ? 1 : 2) : String(value).repeat(repeats[before] ?? 1);
      })
      .join('');
  };
  const isTime = (text: string) => {
    const [, minutes, ...more] = text.split(/[ -]+/);
    return /^(?:[1-9]|1[0-2])(?:[0-5]\d)?$/.test(read(text)) && more.length < 2 && !values.get(minutes ?? '');
  };
  const oneByOne = new RegExp(`(?:^|${PAUSE})${digit}(?:${PAUSE}${digit}){2}${edge}`, 'iu');
  return {
    email: new RegExp(
      `(?<![\\p{L}\\d])(?:[\\p{L}\\d][ ,-]{1,2}){0,30}${word}(?: ${sign} ${word}| ${number}){0,6} (?:${at}) (?:${host}|(?:${PROVIDERS})\\.[a-z]{2,10})${edge}`,
      'giu',
    ),
    digits: new RegExp(`(?<![\\p{L}\\d])${number}(?:${PAUSE}${number}){2,40}${edge}`, 'giu'),
    /** Prices and times are said in numbers of two digits: somewhere three are said one by one, and not as "nine oh five". */
    number,
    isPhone: (text: string) =>
      read(text).length >= 7 && oneByOne.test(text) && !text.split(/[,.…]+ ?/).every((part) => isTime(part)),
    read,
  };
}

/** Digits and addresses in languages whose values are not read. */
const SIMPLE: readonly (readonly [digits: string, at: string, dot: string])[] = [
  ['null ein|eins zwei|zwo drei vier fünf sechs sieben acht neun', 'at|ät|klammeraffe', 'punkt'],
  ['cero un|uno|una dos tres cuatro cinco seis siete ocho nueve', 'arroba', 'punto'],
  ['zéro un|une deux trois quatre cinq six sept huit neuf', 'arobase|at', 'point'],
  ['zero uno|una due tre quattro cinque sei sette otto nove', 'chiocciola', 'punto'],
  ['nul één|een twee drie vier vijf zes zeven acht negen', 'apenstaartje|at', 'punt'],
  ['zero um|uma dois|duas três quatro cinco seis|meia sete oito nove', 'arroba', 'ponto'],
];

const SPOKEN = [
  ...LANGUAGES.map(({ units, tens, scales, letters, repeats }) => {
    const digits = Array.from({ length: 10 }, (_, digit) => {
      const named = Object.keys(units).filter((name) => units[name] === digit);
      return [...named, ...Object.keys(letters).filter((name) => letters[name] === String(digit))].join('|');
    });
    const groups = [...Object.entries(units), ...Object.entries(tens)].filter(([, value]) => value > 9);
    const hundred = Object.keys(scales).filter((name) => scales[name] === 100);
    const numbers = new Map([
      ...groups.map(([name, value]) => [name, String(value)] as const),
      ...hundred.map((name) => [name, '00'] as const),
    ]);
    return spokenIn({ digits, numbers, repeats, at: 'at', dot: 'dot' });
  }),
  ...SIMPLE.map(([digits, at, dot]) => spokenIn({ digits: digits.split(' '), repeats: {}, at, dot })),
];

/** A spoken number, for a regular expression. */
export const NUMBER_WORD = `(?:${SPOKEN.map(({ number }) => number).join('|')})`;

/** The letters and digits of a piece: equal for the same number written in another way. */
export const compact = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

/** The last two letters and digits; the rest is hidden. */
function mask(text: string): string {
  const characters = [...compact(text)];
  return `${'•'.repeat(Math.min(characters.length - 2, 12))}${characters.slice(-2).join('')}`;
}

/** The Luhn check of card numbers. */
export function isCard(text: string): boolean {
  const digits = [...text.replace(/\D/g, '')].reverse().map(Number);
  if (digits.length < 13 || digits.length > 19 || digits.every((digit) => digit === digits[0])) return false;
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

/** The check digits of ISO 13616 (modulo 97). */
export function isIban(text: string): boolean {
  const plain = text.replace(/[ -]/g, '').toUpperCase();
  if (plain.length < 15 || plain.length > 34) return false;
  let remainder = 0;
  for (const character of plain.slice(4) + plain.slice(0, 4)) {
    for (const digit of String(Number.parseInt(character, 36))) remainder = (remainder * 10 + Number(digit)) % 97;
  }
  return remainder === 1;
}
