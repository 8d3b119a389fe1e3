import fc from 'fast-check';
import { findWords, normaliseText } from './index.js';

const isIn = (wanted: string, said: string): boolean => findWords(normaliseText(wanted), normaliseText(said)) !== -1;

describe('findWords', () => {
  it.each([
    ['45 euros', 'That is 45 euros.'],
    ["can't", 'I can’t do that'],
    ['I can’t', "Sorry, I can't."],
    ['booked', 'It is **booked**!'],
    ['Rossi', "Mr Rossi's table"],
    ['hôtel', 'l’hôtel'],
    ['in', 'check-in'],
    ['$45', 'It is $45.'],
    ['$45', 'US$45'],
    ['45', '€45'],
    ['45', '40, 45, 50'],
    ['45', 'It is 45. 50 is too much.'],
    ['?', 'Really?'],
    ['?', 'Really?!'],
    ['name?', 'Your name?'],
    ['...', 'Well...'],
    ['-5', 'It is −5 degrees'],
    ['5', 'Open 9–5'],
    ['5', 'From 9 - 5'],
    ['0199', '(020)-0199'],
    ['19', 'Covid-19'],
    ['STRASSE', 'Straße'],
    ['straße', 'Hohe STRASSE'],
    ['istanbul', 'İstanbul'],
    ['İstanbul', 'ISTANBUL'],
    ['東京', '東京駅'],
    ['予約', 'ご予約ですね'],
    ['45', '全部で45ユーロです'],
    ['예약', '예약을 확인합니다'],
    ['จอง', 'ต้องการจองโต๊ะ'],
    ['😀', 'Hi😀'],
    ['can', "Can I? I can't."],
  ])('finds %j in %j', (wanted, said) => expect(isIn(wanted, said)).toBe(true));

  it.each([
    ['45 euros', '145 euros'],
    ['45 euros', '45 eurosceptics'],
    ['can', "I can't"],
    ['can', 'I cannot'],
    ['book', 'rebooked'],
    ['table', 'book_table'],
    ['45', '1,045'],
    ['45', '45.50'],
    ['$45', '$45.50'],
    ['45', '7:45'],
    ['1', "1'450"],
    ['45', '全部で145ユーロです'],
    ['cafe', 'café'],
    ['cafe', 'cafe\u0301'],
    ['straße', 'Hauptstraße'],
    ['strass', 'Straße'],
    ['5', '-5 degrees'],
    ['5', 'It is −5 degrees'],
    ['5', 'Between (–5 and –3)'],
    ['45', '$-45'],
    ['0', '-0.5'],
    ['น', 'นี้'],
    ['да', 'куда'],
    ['x', ''],
    ['', 'x'],
  ])('does not find %j in %j', (wanted, said) => expect(isIn(wanted, said)).toBe(false));

  it('finds whole words of a sentence anywhere, and parts of them nowhere', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '1', 'ж'), minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), fc.nat(), (words, n) => {
        const chosen = words[n % words.length]!;
        expect(isIn(chosen, words.join(' '))).toBe(true);
        expect(isIn(chosen, words.map((each) => `x${each}`).join(' '))).toBe(false);
        expect(isIn(chosen, words.map((each) => `${each}x`).join(' '))).toBe(false);
      }),
    );
  });
});
