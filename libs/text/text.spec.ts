import fc from 'fast-check';
import { between, clipped, count, dateTime, duration, moment, oneLine, percent, visible } from './index.js';

describe('visible', () => {
  it.each([
    ['a\u0000b\u001B[31m', 'a␀b␛[31m'],
    ['\u007F\u0085', '␡[U+0085]'],
    ['pay \u202Eyap\u202C \u2066x\u2069', 'pay [U+202E]yap[U+202C] [U+2066]x[U+2069]'],
    ['a\u2028b', 'a[U+2028]b'],
    ['\uFFFE\u{1FFFF}', '[U+FFFE][U+1FFFF]'],
    ['\uD83D', '\uFFFD'],
    ['a\r\nb\rc\td', 'a\nb\nc\td'],
    ['עברית 日本語 👩‍👩‍👧‍👦 \u200F', 'עברית 日本語 👩‍👩‍👧‍👦 \u200F'],
  ])('shows %j as %j', (text, shown) => expect(visible(text)).toBe(shown));

  it('is idempotent and leaves no unsafe character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = visible(text);
        expect(shown).not.toMatch(/[^\t\n\u0020-\u007E\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u);
        expect(visible(shown)).toBe(shown);
      }),
    );
  });
});

describe('clipped', () => {
  it('keeps short text, and ends shortened text with an ellipsis', () => {
    expect(clipped('abc', 3)).toBe('abc');
    expect(clipped('abcd', 3)).toBe('ab…');
  });

  it('does not split a surrogate pair', () => {
    expect(clipped('a😀b', 3)).toBe('a\uFFFD…');
  });
});

it('oneLine joins several lines', () => expect(oneLine(' a\n\n b\t c ')).toBe('a b c'));

it.each([
  [0, '0 ms'],
  [999.4, '999 ms'],
  [999.5, '1.00 s'],
  [9_994, '9.99 s'],
  [9_995, '10.0 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min 0 s'],
  [3_600_000, '1 h 0 min'],
])('duration formats %d as %s', (ms, words) => expect(duration(ms)).toBe(words));

it.each([
  [0, '0:00.0'],
  [59_960, '1:00.0'],
  [61_240, '1:01.2'],
])('moment formats %d as %s', (ms, words) => expect(moment(ms)).toBe(words));

it('count, number, percent and dateTime format values for display', () => {
  expect([count(1, 'call'), count(1_200, 'call'), percent(2 / 3)]).toEqual(['1 call', '1,200 calls', '67 %']);
  expect(dateTime('2026-12-04T11:00:30.123+01:00')).toBe('2026-12-04 10:00 UTC');
  expect(dateTime('soon')).toBe('soon');
});

it('between returns undefined unless both times are known', () => {
  expect(between('2026-12-04T10:00:00Z', '2026-12-04T10:00:01.5Z')).toBe(1_500);
  expect(between('2026-12-04T10:00:00Z', null)).toBeUndefined();
  expect(between(null, '2026-12-04T10:00:00Z')).toBeUndefined();
});
