import fc from 'fast-check';
import { sample } from '../statistics/testing/sample.js';
import { findWords, NormalisedText, normaliseText } from './index.js';

describe('normaliseText', () => {
  it.each([
    ['  A  Table\n\tfor FOUR ', 'a table for four'],
    ['can’t can‘t can´t canʼt', "can't can't can't can't"],
    ['“Rossi” «Rossi» „Rossi‟', '"rossi" "rossi" "rossi"'],
    ['7–9 — 555‑0199 −3', '7-9 - 555-0199 -3'],
    ['45\u00a0euros\u202f45\u3000euros', '45 euros 45 euros'],
    ['ＱＸ７ ﬁne ½ m²', 'qx7 fine 1⁄2 m2'],
    ['Cafe\u0301 CAFÉ', 'café café'],
    ['re\u00adser\u200bved\ufeff', 'reserved'],
    ['ΟΔΟΣ ὁδός', 'οδοσ ὁδόσ'],
    ['Straße GROẞ', 'strasse gross'],
    ['İstanbul ISTANBUL i\u0307\u0307', 'istanbul istanbul i'],
    ['ｶﾞ 각 ㄱㅏ', 'ガ 각 가'],
  ])('normalises %j to %j', (text, normalised) => expect(normaliseText(text)).toBe(normalised));

  it.each([
    ['**45** euros', '45 euros'],
    ['_Four_ *people*, ***Friday***', 'four people, friday'],
    ['**Booked:** code __AB12__.', 'booked: code ab12.'],
    ['**“Rossi”**', '"rossi"'],
    ['**a *b* c**', 'a b c'],
    ['re*serv*ed', 'reserved'],
    ['book_table and first_name_last', 'book_table and first_name_last'],
    ['* one\n* two', '* one * two'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['a * or **b', 'a * or **b'],
    ['*a _b* c_', 'a _b c_'],
    ['**', '**'],
  ])('removes the Markdown emphasis of %j: %j', (text, normalised) => expect(normaliseText(text)).toBe(normalised));

  const characters = fc.oneof(
    fc.constantFrom(
      'a',
      'É',
      'e',
      '\u0301',
      '\u200b',
      '´',
      'ß',
      'İ',
      'Σ',
      'ﾞ',
      'ｶ',
      'ᄀ',
      'ᅡ',
      'ㅏ',
      '東',
      '😀',
      ' ',
      '\n',
    ),
    fc.constantFrom('’', '”', '—', '\u00a0', '\u3000', '½', '１'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((character) => !/[*_]/.test(character)),
  );
  const texts = fc.string({ unit: characters, maxLength: 20 });
  const delimiters = fc.string({ unit: fc.constantFrom('*', '_', ' ', 'a', '.', 'é', '\u0301', '東'), maxLength: 20 });

  it('gives canonically equivalent texts the same form, which is in NFKC', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const normalised = normaliseText(text);
        expect(normaliseText(text.normalize('NFD'))).toBe(normalised);
        expect(normaliseText(text.normalize('NFC'))).toBe(normalised);
        expect(normalised.normalize('NFKC')).toBe(normalised);
        expect(normaliseText(normalised)).toBe(normalised);
      }),
      { numRuns: 500 },
    );
  });

  it('changes no character that it has normalised, of all of Unicode', () => {
    const changed: string[] = [];
    const isSurrogate = (codePoint: number) => codePoint >= 0xd800 && codePoint < 0xe000;
    const codePoints = Array.from({ length: 0x110000 }, (_, codePoint) => codePoint);
    for (const codePoint of sample(codePoints.filter((one) => !isSurrogate(one)))) {
      const normalised = normaliseText(`a${String.fromCodePoint(codePoint)}b`);
      const isStable = normaliseText(normalised) === normalised && normalised.normalize('NFKC') === normalised;
      if (!isStable) changed.push(codePoint.toString(16));
    }
    expect(changed).toEqual([]);
  });

  it.each([
    ['5‴', "5'''"],
    ['x⁻', 'x-'],
    ['﹁yes﹂', '"yes"'],
    ['ŉ', "'n"],
  ])('normalises the compatibility character in %s', (text, expected) => {
    expect(normaliseText(text)).toBe(expected);
  });

  it('only removes delimiters from emphasis', () => {
    fc.assert(
      fc.property(delimiters, (text) => {
        const letters = (from: string) => from.replace(/[*_\s]/g, '').normalize('NFC');
        expect(letters(normaliseText(text))).toBe(letters(text));
        expect(new NormalisedText(text).text).toBe(normaliseText(text));
      }),
      { numRuns: 300 },
    );
  });

  it('knows the origin of every part', () => {
    fc.assert(
      fc.property(texts, fc.nat(), fc.nat(), (original, a, b) => {
        const normalised = new NormalisedText(original);
        const characters = [...normalised.text];
        const [first, last] = [a, b].map((n) => n % (characters.length + 1)).sort((x, y) => x - y) as [number, number];
        const before = characters.slice(0, first).join('');
        const part = characters.slice(first, last).join('');
        const origin = original.slice(...normalised.originOf(before.length, before.length + part.length));
        expect(normalised.text).toBe(normaliseText(original));
        expect(normaliseText(origin)).toContain(part.trim());
      }),
      { numRuns: 500 },
    );
  });

  it('finds the origin of a match inside emphasis and between invisible characters', () => {
    const original = 'It costs **forty\u00a0\u00a0five** re\u00adser\u00advations.';
    const normalised = new NormalisedText(original);
    const origin = (text: string) => {
      const at = findWords(normaliseText(text), normalised.text);
      return original.slice(...normalised.originOf(at, at + text.length));
    };
    expect(origin('forty five')).toBe('forty\u00a0\u00a0five');
    expect(origin('reservations')).toBe('re\u00adser\u00advations');
  });

  it.each([
    ['delimiters', '*'],
    ['openers', '*a '],
    ['closers', 'a* '],
    ['alternating openers', '*_'],
    ['emphasised words', '*a* '],
    ['marks', '\u0301\u0316'],
    ['spaces', ' \u00a0'],
    ['Jamo', 'ㄱㅏ'],
    ['accented letters', 'é'],
  ])('takes linear time for %s', (_what, unit) => {
    const started = performance.now();
    new NormalisedText(unit.repeat(100_000));
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
