import fc from 'fast-check';
import type { TimelineEntry } from '../simulation/index.js';
import type { Finding } from './findings.js';
import { piecesOf, type Reference, referencesOf } from './highlights.js';

const reference = (quote: string, number = 1): Reference => ({ number, name: `Check ${number}`, met: false, quote });
const shown = (text: string, ...quotes: string[]) =>
  piecesOf(
    text,
    quotes.map((quote, index) => reference(quote, index + 1)),
  ).map(({ text: part, references }) =>
    references.length > 0 ? [part, references.map(({ number }) => number)] : part,
  );

describe('referencesOf', () => {
  const said = (text: string, turn: number, more: object = {}) =>
    ({ type: 'speech', speaker: 'agent', text, start: 0, end: 1, turn, ...more }) as TimelineEntry;
  const TIMELINE = [
    said('We are open from Tuesday to Sunday,', 1),
    said(' from noon until 10 pm. On Mondays', 1, { continues: true }),
    said('we are closed.', 1),
    said('We are open from noon until 10 pm.', 2),
  ];
  const quotesOf = (entry: number, quote: string) => {
    const finding = { number: 1, name: 'Hours', met: true, evidence: [{ entry, quote }] } as unknown as Finding;
    return [...referencesOf([finding], TIMELINE)].map(([index, [one]]) => [index, one!.quote]);
  };

  it('leaves a quote in its entry', () => {
    expect(quotesOf(1, 'from noon until 10 pm')).toEqual([[1, 'from noon until 10 pm']]);
    expect(quotesOf(3, 'from noon until 10 pm')).toEqual([[3, 'from noon until 10 pm']]);
  });

  it('splits a sentence that is spread over the entries of a turn, and marks nothing else of them', () => {
    expect(quotesOf(1, 'We are open from Tuesday to Sunday, from noon until 10 pm.')).toEqual([
      [0, 'We are open from Tuesday to Sunday,'],
      [1, 'from noon until 10 pm.'],
    ]);
    expect(quotesOf(2, 'On Mondays we are closed.')).toEqual([
      [1, 'On Mondays'],
      [2, 'we are closed.'],
    ]);
  });

  it('keeps the entry of a quote that is nowhere', () => {
    expect(quotesOf(0, 'at midnight')).toEqual([[0, 'at midnight']]);
    expect(quotesOf(9, '')).toEqual([[9, '']]);
  });
});

describe('piecesOf', () => {
  it.each([
    ['a text without evidence', 'Hello there', [], ['Hello there']],
    ['a quote in the middle', 'We close at ten. Bye.', ['close at ten'], ['We ', ['close at ten', [1]], '. Bye.']],
    ['another letter case and white space', 'Your  TABLE is', ['your table'], [['Your  TABLE', [1]], ' is']],
    ["the judge's own quotation marks", 'It is so.', ['“is so”'], ['It ', ['is so', [1]], '.']],
    ['a quote that was shortened', 'one two three', ['one two…'], [['one two', [1]], ' three']],
    ['a quote that goes on elsewhere', 'one two', ['two three'], [['one two', [1]]]],
    ['evidence without words', 'one two', [''], [['one two', [1]]]],
    ['two quotes apart', 'a b c', ['c', 'a'], [['a', [2]], ' b ', ['c', [1]]]],
    ['two that overlap', 'a b c d', ['b c', 'a b'], [['a b c', [1, 2]], ' d']],
    ['two of the same', 'a b', ['a', 'a'], [['a', [1, 2]], ' b']],
  ] as const)('finds %s', (_what, text, quotes, pieces) => expect(shown(text, ...quotes)).toEqual(pieces));

  it('loses no text and no reference for any quotes', () => {
    const words = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'É', 'İ', '…', '"'), maxLength: 12 });
    fc.assert(
      fc.property(words, fc.array(words, { maxLength: 4 }), (text, quotes) => {
        const references = quotes.map((quote, index) => reference(quote, index));
        const pieces = piecesOf(text, references);
        expect(pieces.map((piece) => piece.text).join('')).toBe(text);
        expect(pieces.flatMap((piece) => piece.references.map(({ number }) => number)).sort()).toEqual([
          ...quotes.keys(),
        ]);
      }),
    );
  });
});
