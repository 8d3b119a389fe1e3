import { findJsonViolations, sentence } from './index.js';

const nested = (levels: number): object => JSON.parse(`${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`) as object;

/** The first violation under the limits of a request body. */
const firstOf = (value: unknown): string | undefined => {
  const [violation] = findJsonViolations(value, { maxValues: 10_000, maxViolations: 1 }).violations;
  return violation && sentence(violation);
};

describe('findJsonViolations', () => {
  it('finds no violations in an ordinary body', () => {
    expect(firstOf({ name: 'x', list: [1, null, { then: '\u{1f600}' }], empty: {} })).toBeUndefined();
  });

  it.each([
    ['{"a":"\\u0000"}', 'a must not contain the character U+0000'],
    ['{"a":[0,{"b":"\\ud800"}]}', 'a[1].b must not contain an unpaired surrogate'],
    ['{"a":[["\\udfff"]]}', 'a[0][0] must not contain an unpaired surrogate'],
    ['{"a\\u0000":1}', 'a\uFFFD must not contain the character U+0000 in its name'],
    ['{"\\ud800":1}', '\uFFFD must not contain an unpaired surrogate in its name'],
    ['{"__proto__":1}', '__proto__ is not a known field'],
    ['{"a":{"hasOwnProperty":1}}', 'a.hasOwnProperty is not a known field'],
  ])('%s: %s', (json, fault) => {
    expect(firstOf(JSON.parse(json))).toBe(fault);
  });

  it('accepts 32 levels and rejects the 33rd', () => {
    expect(firstOf(nested(32))).toBeUndefined();
    expect(firstOf(nested(33))).toMatch(/^a(\.a){31} must not be nested deeper than 32 levels$/);
    expect(firstOf(nested(100_000))).toMatch(/must not be nested deeper/);
  });

  it('accepts 10,000 values and rejects more', () => {
    expect(firstOf({ list: Array.from({ length: 9_999 }, () => 0) })).toBeUndefined();
    expect(firstOf({ list: Array.from({ length: 10_000 }, () => 0) })).toBe('must hold at most 10000 values');
  });
});
