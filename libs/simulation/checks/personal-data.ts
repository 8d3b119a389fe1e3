import {
  type NoPersonalDataSpec,
  PERSONAL_DATA_KINDS,
  type PersonalDataKind,
} from '../../evaluation-definition/index.js';
import { LANGUAGES } from '../values/readings.js';
import { EMAIL, type Forbidden, saysNone } from './forbidden-words.js';
import type { Leaves } from './kind.js';
import type { EventFinder } from './occurrences.js';

const NAMES: Readonly<Record<PersonalDataKind, string>> = {
  card: 'a card number',
  iban: 'an IBAN',
  email: 'an e-mail address',
  phone: 'a phone number',
};

const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z\d]{1,4}){3,8}\b/giu;
const CARD = /(?<![\d.,])\d(?:[ -]?\d){12,18}(?!\d)/gu;
const PHONE = /(?<![\d.,:])\+?\(?\d(?:[ ().\/-]{0,2}\d){6,14}(?![\d:])/gu;
/** Dates, ranges of years and ranges of times, which look like phone numbers. */
const NO_PHONE =
  /^(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ]\d{4}|(?:1[89]|20)\d\d ?[-/] ?(?:1[89]|20)\d\d)$/;

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

/** Whether one side says no personal data. What is found is masked: results are read by more people than calls. */
function saysNoPersonalData(
  { speaker, kinds = PERSONAL_DATA_KINDS, allow = [] }: NoPersonalDataSpec,
  finder: EventFinder,
) {
  const allowed = allow.map(compact).filter((text) => text !== '');
  const search = (words: string) =>
    findIn(words).flatMap(({ kind, text, at }): Forbidden[] => {
      const plain = compact(text);
      if (!kinds.includes(kind) || allowed.some((each) => plain === each || plain.endsWith(each))) return [];
      const quote = mask(text);
      return [{ at, quote, text: `${NAMES[kind]} (${quote})` }];
    });
  return saysNone(speaker, finder, search, `The ${speaker} said no personal data`);
}

/** Personal data in a text, each piece once, in order. */
export function findIn(text: string): PersonalDatum[] {
  const found: PersonalDatum[] = [];
  let rest = text;
  const take = (
    kind: PersonalDataKind,
    pattern: RegExp,
    isReal: (match: string) => boolean,
    read = (match: string) => match,
  ) => {
    rest = rest.replace(pattern, (match: string, at: number) => {
      if (!isReal(match)) return match;
      found.push({ kind, text: read(match), at, length: match.length });
      return ' '.repeat(match.length);
    });
  };
  take('email', EMAIL, () => true);
  take('iban', IBAN, isIban);
  take('card', CARD, isCard);
  take('phone', PHONE, (match) => !NO_PHONE.test(match));
  for (const { spokenEmail, spokenDigits, readDigits } of SPOKEN) {
    take('email', spokenEmail, () => true);
    take('card', spokenDigits, (match) => isCard(readDigits(match)), readDigits);
    take('phone', spokenDigits, (match) => isPhoneLength(readDigits(match).length), readDigits);
  }
  return found.sort((a, b) => a.at - b.at);
}

const isPhoneLength = (digits: number): boolean => digits >= 7 && digits <= 15;

/** Sequences of spoken digits ("double five, oh one"), per language. */
const SPOKEN = LANGUAGES.map(({ units, letters, repeats, spokenEmail }) => {
  const digits = new Map(Object.entries(units).filter(([, value]) => value < 10));
  for (const [word, character] of Object.entries(letters))
    if (/^\d$/.test(character)) digits.set(word, Number(character));
  const digit = `(?:(?:${Object.keys(repeats).join('|')})[ -])?(?:${[...digits.keys()].join('|')})`;
  return {
    spokenEmail,
    spokenDigits: new RegExp(`\\b${digit}(?:[ ,-]{1,2}${digit}){2,18}\\b`, 'giu'),
    readDigits: (text: string) => {
      const words = text.toLowerCase().split(/[ ,-]+/);
      return words.map((word, i) => String(digits.get(word) ?? '').repeat(repeats[words[i - 1] ?? ''] ?? 1)).join('');
    },
  };
});

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
  const plain = text.replaceAll(' ', '').toUpperCase();
  if (plain.length < 15 || plain.length > 34) return false;
  let remainder = 0;
  for (const character of plain.slice(4) + plain.slice(0, 4)) {
    for (const digit of String(Number.parseInt(character, 36))) remainder = (remainder * 10 + Number(digit)) % 97;
  }
  return remainder === 1;
}
