import { wordDifferences } from './word-differences.js';

const texts = (first: string, second: string) =>
  wordDifferences(first, second).map((one) => [first.slice(...one.first), second.slice(...one.second)]);

describe('the differences of two hearings', () => {
  it('are other words, with letter case and punctuation apart', () => {
    expect(texts('The menu is 45 euros.', 'the menu, is nine euros')).toEqual([['45', 'nine']]);
  });

  it('are words that one of them lacks', () => {
    expect(texts('We are open.', 'We are not open.')).toEqual([['', 'not']]);
    expect(texts('Goodbye, Mr Rossi.', 'Goodbye.')).toEqual([['Mr Rossi.', '']]);
    expect(texts('', 'Hello there')).toEqual([['', 'Hello there']]);
  });

  it('are one where several words follow each other, and several apart from each other', () => {
    expect(texts('a b c d e f', 'a x y d e z')).toEqual([
      ['b c', 'x y'],
      ['f', 'z'],
    ]);
  });

  it('are none between equal texts, and everything in texts that are too long', () => {
    expect(texts('One two.', 'one TWO')).toEqual([]);
    const long = 'a '.repeat(2_001).trim();
    expect(texts(long, 'a')).toEqual([[long, 'a']]);
  });
});
