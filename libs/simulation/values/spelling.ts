import { readFigures } from './numbers.js';
import type { ValueWords } from './value-words.js';

/** Letters and digits. */
export const compact = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

/** A minus, and signs between figures that do not separate thousands. */
const MINUS = /^[$€£¥]? ?- ?[$€£¥]?(?=\d)/;
const BETWEEN_FIGURES = /\d[./]\d|\d,(?!\d{3}(?!\d))\d/;
const DATE = /^(?:\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./-]\d{1,2}[./-]\d{1,2})$/;

/** Whether the signs of figures have a meaning: without them "1/12/26" is "11/2/26", "12.5 mg" is "125 mg" and "-5 C" is "5 C". */
export function hasMeantSigns(text: string): boolean {
  if (MINUS.test(text)) return true;
  const groups = text.split(/ ?[.,/-] ?/);
  // "4-0-2-1" is spelled.
  if (groups.length > 2 && groups.every((group) => /^\d$/.test(group))) return false;
  if (!/^\+?[\d ()./-]+$/.test(text)) return BETWEEN_FIGURES.test(text);
  const isPhone = !DATE.test(text) && (groups.length > 4 || (/\d{4}/.test(text) && compact(text).length > 6));
  return !isPhone && groups.length > 1 && groups.some((group) => /^\d$/.test(group));
}

/** Letters and digits, with a minus and the signs between figures. */
export const signed = (text: string): string => {
  const joined = text.replace(/ ?([.,/-]) ?/g, '$1').toLowerCase();
  return (MINUS.test(text) ? '-' : '') + joined.replace(/(?<!\d)[.,/-]|[.,/-](?!\d)|[^\p{L}\p{N}.,/-]/gu, '');
};

/** Characters that were spelled out, and a number that they may be. */
export interface Spelling {
  readonly text: string;
  /** "One fifty" may be 150, 1.50 or a time, "nineteen eighty-four" is 1984. */
  readonly isPossible: boolean;
  /** Present for two numbers in a row, of which the second may be hundredths. */
  readonly hundredths?: number;
}

/** Spelled-out letters and digits: "Q X 7", "Quebec X-ray seven", "double five", "A seventeen", "forty-two forty-two". */
export function readSpelling(text: string, table: ValueWords): Spelling | undefined {
  if (/^\+?[\d ()./-]+$/.test(text))
    return readFigures(text) === undefined ? { text: compact(text), isPossible: hasMeantSigns(text) } : undefined;
  const all = text
    .replace(table.explains, '')
    .replace(/x-ray/g, 'xray')
    .split(/[ ,.-]+/)
    .filter((word) => word !== '');
  // "Two point four point one" is a version.
  const isVersion = all.filter((word) => word === table.decimalPoint).length > 1;
  const words = isVersion ? all.map((word) => (word === table.decimalPoint ? '.' : word)) : all;
  let spelled = '';
  let times = 1;
  /** The numbers that were said; undefined if there is anything else. */
  let numbers: number[] | undefined = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (table.repeats[word] !== undefined) {
      times = table.repeats[word];
      continue;
    }
    const [ten, unit] = [table.tens[word], table.units[words[at + 1] ?? ''] ?? 0];
    const hasUnit = ten !== undefined && unit > 0 && unit < 10;
    const number = ten === undefined ? table.units[word] : ten + (hasUnit ? unit : 0);
    const character = number === undefined ? characterOf(word, table) : String(number);
    if (character === undefined) return undefined;
    if (hasUnit) at++;
    const isDigit = /^\d$/.test(character);
    numbers = number !== undefined || isDigit ? numbers?.concat(Number(character)) : undefined;
    spelled += character.repeat(times);
    times = 1;
  }
  if (words.length < 2 && !(spelled !== words[0] && /^0$/.test(spelled))) return undefined;
  const spelling = { text: spelled, ...asHundredths(numbers ?? []) };
  return hasMeantSigns(text) ? { ...spelling, isPossible: true } : spelling;
}

/** "Twelve fifty", "twelve oh five": a price, a time, a number or a code. From thirteen on it is a year or a code, too. */
function asHundredths(numbers: readonly number[]): Pick<Spelling, 'isPossible' | 'hundredths'> {
  const [first = 0, ...rest] = numbers;
  const isPadded = rest.length === 2 && rest[0] === 0 && rest[1]! < 10;
  if (!isPadded && !(rest.length === 1 && rest[0]! >= 10)) return { isPossible: false };
  return { isPossible: first < 13 && !(isPadded && first < 10), hundredths: first + rest.at(-1)! / 100 };
}

function characterOf(word: string, table: ValueWords): string | undefined {
  if ([...word].length === 1 || /^\d+$/.test(word)) return word;
  return Object.hasOwn(table.letters, word) ? table.letters[word] : undefined;
}

const ADDRESS = /^(?:[^@\s]+@)?[\p{L}\d-]+(?:\.[\p{L}\d-]+)*\.\p{L}{2,}(?:\/[^@\s]*)?$/u;

/** E-mail addresses and addresses of pages: "john dot smith at example dot com". */
export function readAddresses(text: string, table: ValueWords): string[] {
  const words = text.split(' ').map((word) => table.addressSigns[word] ?? word);
  if (!words.includes('.') && !words.includes('@')) return [];
  const digits = words.map((word) => String(table.units[word] ?? word));
  return [...new Set([words.join(''), digits.join('')])].filter((address) => ADDRESS.test(address));
}

/** An international telephone number, without what stands for "international". */
export function readPhone(text: string, spelled: string | undefined, table: ValueWords): string | undefined {
  const isMarked = text.startsWith('+') || table.numberSigns[text.split(' ', 1)[0]!] === 1;
  const digits = spelled ?? compact(text);
  const [, plain] = /^(?:00)?([1-9]\d{6,14})$/.exec(digits) ?? [];
  return isMarked || digits.startsWith('00') ? plain : undefined;
}
