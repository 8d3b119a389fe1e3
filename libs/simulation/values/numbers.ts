import type { ValueWords } from './value-words.js';

/** A number in figures: `1,045.50`, `1.045,50`, `45`. */
const FIGURES = /^[+-]?\d{1,3}(?:[,. ']\d{3})*(?:[.,]\d{1,2})?$|^[+-]?\d+(?:[.,]\d+)?$/;
const FRACTION = /^(\d{1,3})\/([1-9]\d{0,2})$/;

/** More digits are a code: as numbers, those that are close would be equal. */
const MAX_DIGITS = 15;

export function readFigures(text: string): number | undefined {
  if (!FIGURES.test(text)) return undefined;
  const decimal = /[.,](\d{1,2})$|^[+-]?\d+[.](\d+)$/.exec(text);
  const whole = decimal
    ? text.slice(0, decimal.index + (decimal[2] === undefined ? 0 : decimal[0].lastIndexOf('.')))
    : text;
  const digits = whole.replace(/[,. ']/g, '');
  if (digits.length > MAX_DIGITS) return undefined;
  return Number(decimal ? `${digits}.${decimal[1] ?? decimal[2]}` : digits);
}

/** A whole or decimal number in words or figures; undefined unless all words belong to it. */
export function readNumber(words: readonly string[], table: ValueWords): number | undefined {
  const [first, ...rest] = words;
  if (first === undefined) return undefined;
  const sign = rest.length > 0 ? table.numberSigns[first] : undefined;
  if (sign !== undefined) {
    const number = readNumber(rest, table);
    return number === undefined ? undefined : sign * number;
  }
  if (rest.length === 0 && /^[+-]?\d/.test(first)) {
    const thousands = first.endsWith('k') ? readFigures(first.slice(0, -1)) : undefined;
    return thousands === undefined ? (readFigures(first) ?? readFraction(words, table)) : thousands * 1_000;
  }
  const point = words.indexOf(table.decimalPoint);
  if (point === -1) return readWhole(words, table) ?? readFraction(words, table);
  const scaled = words.findIndex((word, at) => at > point && table.scales[word] !== undefined);
  const end = scaled === -1 ? words.length : scaled;
  const digits = words.slice(point + 1, end).map((word) => table.letters[word] ?? table.units[word] ?? word);
  const whole = point === 0 ? 0 : readWhole(words.slice(0, point), table);
  const scale = scaled === -1 ? 1 : readWhole(words.slice(scaled), table);
  const isRead = digits.length > 0 && digits.every((digit) => /^\d$/.test(String(digit)));
  if (whole === undefined || scale === undefined || !isRead) return undefined;
  return Number((Number(`${whole}.${digits.join('')}`) * scale).toPrecision(15));
}

/** "two and a half", "half a million", "three quarters", "2 1/2". */
function readFraction(words: readonly string[], table: ValueWords): number | undefined {
  const written = words.findIndex((word) => FRACTION.test(word));
  const at = written === -1 ? words.findIndex((word) => table.fractions[word] !== undefined) : written;
  if (at === -1) return undefined;
  const scales = words.slice(at + 1);
  const scale = scales.length === 0 ? 1 : readWhole(scales, table);
  const isScaled = scales.every((word) => table.fillers.has(word) || table.scales[word] !== undefined);
  // "Two and a half": what stands before the last "and" is whole.
  const and = written === -1 ? words.lastIndexOf(table.and, at) : at;
  const whole = and > 0 ? readWhole(words.slice(0, and), table) : 0;
  if (!isScaled || scale === undefined || whole === undefined) return undefined;
  const [, over, under] = FRACTION.exec(words[at]!) ?? [];
  if (over !== undefined) return (whole + Number(over) / Number(under)) * scale;
  const numerator = words.slice(and === at ? 0 : and + 1, at).filter((word) => !table.fillers.has(word));
  const count = numerator.length === 0 ? 1 : readWhole(numerator, table);
  return count === undefined ? undefined : (whole + count / table.fractions[words[at]!]!) * scale;
}

/** "twenty-first", "21st". */
export function readOrdinal(words: readonly string[], table: ValueWords): number | undefined {
  const last = words.at(-1) ?? '';
  const [, figures] = /^(\d+)(?:st|nd|rd|th)$/.exec(last) ?? [];
  if (figures !== undefined && words.length === 1) return Number(figures);
  const unit = table.ordinals[last];
  return unit === undefined ? undefined : readWhole([...words.slice(0, -1), String(unit)], table);
}

function readWhole(words: readonly string[], table: ValueWords): number | undefined {
  let [total, group] = [0, 0];
  // The largest number that may still be added: nothing after units, units after tens.
  let room = Infinity;
  let isRead = false;
  for (const word of words) {
    if (table.fillers.has(word)) continue;
    const figures = /^\d/.test(word) ? readFigures(word) : undefined;
    const [unit, ten, scale] = [figures ?? table.units[word], table.tens[word], table.scales[word]];
    if (scale === 100) {
      group = (isRead && group > 0 ? group : 1) * 100;
      room = 100;
    } else if (scale !== undefined) {
      total += (isRead && group > 0 ? group : 1) * scale;
      group = 0;
      room = scale;
    } else {
      const value = unit ?? ten;
      if (value === undefined || value >= room) return undefined;
      group += value;
      room = ten === undefined ? 0 : 10;
    }
    isRead = true;
  }
  return isRead ? total + group : undefined;
}
