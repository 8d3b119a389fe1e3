const WORDS = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
  'thirteen',
  'fourteen',
  'fifteen',
  'sixteen',
  'seventeen',
  'eighteen',
  'nineteen',
  'twenty',
];
const VALUES = new Map(WORDS.map((word, value) => [word, value]));

/** Source of a regular expression for a small number in words or digits; longer words first, so that `six` does not hide `sixteen`. */
export const NUMBER = `(?:${[...WORDS].reverse().join('|')}|\\d{1,3})`;
export const NUMBER_WORD = `(?:${[...WORDS].reverse().join('|')})`;

/** The value of a match of `NUMBER`. */
export function numberOf(text: string): number {
  return VALUES.get(text.toLowerCase()) ?? Number(text);
}

const SPOKEN_DIGIT = '(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double)';
const SPOKEN_PHONE = new RegExp(`(?:\\b${SPOKEN_DIGIT}\\b[\\s,-]*){6,24}`, 'i');
const WRITTEN_PHONE = /\+?\d[\d\s().-]{4,24}\d/;
const FEWEST_DIGITS = 6;

/** Extracts a telephone number, in digits or spoken digit by digit, and returns it with the rest of the text. */
export function extractPhone(text: string): { phone?: string; rest: string } {
  const written = WRITTEN_PHONE.exec(text);
  if (written) {
    const phone = written[0].replace(/[^\d+]/g, '');
    if (phone.length >= FEWEST_DIGITS) return { phone, rest: without(text, written) };
  }
  const spoken = SPOKEN_PHONE.exec(text);
  if (!spoken) return { rest: text };
  let times = 1;
  let phone = '';
  for (const word of spoken[0].toLowerCase().match(/[a-z]+/g) ?? []) {
    if (word === 'double') times = 2;
    else {
      phone += String(word === 'oh' ? 0 : VALUES.get(word)).repeat(times);
      times = 1;
    }
  }
  return phone.length < FEWEST_DIGITS ? { rest: text } : { phone, rest: without(text, spoken) };
}

/** The text without a match. */
export const without = (text: string, found: RegExpExecArray): string =>
  `${text.slice(0, found.index)} ${text.slice(found.index + found[0].length)}`;
