import type { ValueWords } from './value-words.js';

/** A number in figures: `1,045.50`, `1.045,50`, `45`. */
const FIGURES = /^[+-]?\d{1,3}(?:[,. ']\d{3})*(?:[.,]\d{1,2})?$|^[+-]?\d+(?:[.,]\d+)?$/;

export function readFigures(text: string): number | undefined {
  if (!FIGURES.test(text)) return undefined;
  const decimal = /[.,](\d{1,2})$|^[+-]?\d+[.](\d+)$/.exec(text);
  const whole = decimal
    ? text.slice(0, decimal.index + (decimal[2] === undefined ? 0 : decimal[0].lastIndexOf('.')))
    : text;
  const digits = whole.replace(/[,. ']/g, '');
  return Number(decimal ? `${digits}.${decimal[1] ?? decimal[2]}` : digits);
}

/** A whole or decimal number in words or figures; undefined unless all words belong to it. */
export function readNumber(words: readonly string[], table: ValueWords): number | undefined {
  if (words.length === 0) return undefined;
  if (words.length === 1 && /\d/.test(words[0]!)) return readFigures(words[0]!);
  const point = words.indexOf(table.decimalPoint);
  if (point === -1) return readWhole(words, table);
  const digits = words.slice(point + 1).map((word) => table.units[word] ?? NaN);
  const whole = readWhole(words.slice(0, point), table);
  const isRead = whole !== undefined && digits.length > 0 && digits.every((digit) => digit < 10);
  return isRead ? Number(`${whole}.${digits.join('')}`) : undefined;
}

function readWhole(words: readonly string[], table: ValueWords): number | undefined {
  let [total, group] = [0, 0];
  // The largest number that may still be added: nothing after units, units after tens.
  let room = Infinity;
  let isRead = false;
  for (const word of words) {
    if (table.fillers.has(word)) continue;
    const figures = /^\d+$/.test(word) ? Number(word) : undefined;
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
