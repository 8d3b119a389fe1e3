import { wordSpans, type Phone } from './word-times.js';

/** Phones of 100 ms each. */
const phones = (names: string): Phone[] =>
  names.split(' ').map((name, index) => ({ name, endSeconds: (index + 1) / 10 }));

/** Spans in tenths of a second. */
const spans = (spoken: string, ...words: string[]) =>
  wordSpans(
    phones(spoken),
    words.map((word) => word.split(' ').filter(Boolean)),
  ).map((span) => span && [span.startSeconds, span.endSeconds].map((seconds) => Math.round(seconds * 10)));

describe('wordSpans', () => {
  it('finds each word between the pauses', () => {
    expect(spans('pau hh ax l ow pau y eh s pau', 'pau hh ax l ow pau', 'pau y eh s pau')).toEqual([
      [1, 5],
      [6, 9],
    ]);
  });

  it('finds words without a pause between them', () => {
    expect(spans('pau w ah n t uw th r iy pau', 'w ah n', 't uw', 'th r iy')).toEqual([
      [1, 4],
      [4, 6],
      [6, 9],
    ]);
  });

  it('accepts a vowel that the neighbours changed', () => {
    expect(spans('pau l ay k ax t ey b ax l pau', 'l ay k', 'ey', 't ey b ax l')).toEqual([
      [1, 4],
      [4, 5],
      [5, 10],
    ]);
  });

  it('accepts phones that are added or omitted in context', () => {
    expect(spans('pau ae n d ih t s pau', 'ae n', 'ih t', 'eh s')).toEqual([
      [1, 4],
      [4, 6],
      [6, 7],
    ]);
  });

  it('has no span for a word without a phone', () => {
    expect(spans('pau n ow pau', '', 'n ow', '')).toEqual([null, [1, 3], null]);
    expect(spans('pau pau', '')).toEqual([null]);
  });

  it('spans a pause inside a word', () => {
    expect(spans('pau f ay v pau z ih r ow pau', 'f ay v z ih r ow')).toEqual([[1, 9]]);
  });

  it('never goes back in time, whatever the transcriptions say', () => {
    const result = spans('pau a b c d e f g h pau', 'h g f', 'zz yy xx ww', 'a', 'b c d e f g h a b c');
    const times = result.flatMap((span) => span ?? []);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBe(1);
    expect(times.at(-1)).toBe(9);
  });

  it('shares the time in proportion where an alignment would take too long', () => {
    const long = Array.from({ length: 5_000 }, () => 'a');
    const result = wordSpans(phones(long.join(' ')), [long.slice(0, 2_500), long.slice(2_500)]);
    expect(result[0]).toMatchObject({ startSeconds: 0, endSeconds: 250 });
    expect(result[1]).toMatchObject({ startSeconds: 250, endSeconds: 500 });
  });
});
