import fc from 'fast-check';

/** Texts that are known to break parsers, databases and renderers. */
export const NASTY_TEXTS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udfff',
  '\udc00\ud800',
  '\ufeff',
  '\u202e\u2066',
  '\uffff',
  'e\u0301 \u00e9',
  '\u{1f600}',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  'null',
  'undefined',
  'NaN',
  'true',
  '-0',
  '1e400',
  '0x10',
  '９',
  "'; --",
  '%',
  '\\',
  '%_\\',
  '\r\n',
  '\t',
  '${7*7}{{7*7}}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'İı',
];

/** Member names with a special meaning for JavaScript, its libraries or a query parser. */
export const NASTY_NAMES: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'toJSON',
  'valueOf',
  'hasOwnProperty',
  'isPrototypeOf',
  '__defineGetter__',
  'then',
  'length',
  'id',
  'deletedAt',
  'createdAt',
  '$ne',
  '',
  ' ',
  'a.b',
  'a[b]',
  'name\u0000',
  '\ud800',
  '\u{1f600}',
  'x'.repeat(5_000),
];

/** Path segments as sent on the wire: invalid percent-encoding, overlong UTF-8, separators, dots, raw bytes. */
export const NASTY_SEGMENTS: readonly string[] = [
  '%',
  '%%',
  '%0',
  '%zz',
  '%00',
  'a%00b',
  '%2F',
  '%2f..%2f',
  '%5C',
  '%C0%AF',
  '%E0%80%AF',
  '%ED%A0%80',
  '%F4%90%80%80',
  '%FF%FE',
  '%u0041',
  '..',
  '...',
  '.',
  '%2e%2e',
  ';a=b',
  '*',
  ':id',
  '{id}',
  '\u00ff\u00fe',
  '~',
  '@',
  '%0D%0AX-Injected:%201',
  '0',
  '-1',
  'null',
  '__proto__',
  '00000000-0000-0000-0000-00000000000',
  '00000000-0000-0000-0000-000000000000',
  '{00000000-0000-0000-0000-000000000000}',
  '00000000000000000000000000000000',
  '00000000-0000-0000-0000-00000000000g',
  'ffffffff-ffff-ffff-ffff-ffffffffffff%00',
  'x'.repeat(12_000),
];

/** Query strings as sent on the wire, without the question mark. */
const NASTY_QUERIES: readonly string[] = [
  '?',
  '&',
  '=',
  '=&=',
  '%',
  '%zz=%zz',
  'page=%',
  'page=%00',
  'page[]=1',
  'page[a]=1',
  'page.a=1',
  '__proto__=1',
  '__proto__[page]=1',
  'constructor=1',
  'toString=1',
  'hasOwnProperty=1',
  'page=1&__proto__=x',
  'page=1;limit=2',
  '\u00ff=\u00fe',
  '%ED%A0%80=1',
  'a&'.repeat(3_000),
];

const NASTY_INTEGERS: readonly string[] = [
  '0',
  '1',
  '-1',
  '+1',
  '1.5',
  '1e2',
  '0x1',
  '00',
  '001',
  '100',
  '101',
  '',
  '%201',
  '1+',
  '%31',
  '%EF%BC%91',
  'NaN',
  'Infinity',
  'null',
  '9007199254740991',
  '9007199254740992',
  '90071992547409',
  '9223372036854775807',
  '99999999999999999999999999',
  '9'.repeat(500),
];

export const nastyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NASTY_TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
);

/** Well-formed Unicode without U+0000, which must be stored and read back unchanged. */
export const validText = (maxLength: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: Math.min(maxLength, 60) }).map(withoutNul) },
    { weight: 2, arbitrary: fc.constantFrom(...NASTY_TEXTS.filter(isValid)).map((text) => text.slice(0, maxLength)) },
    { weight: 1, arbitrary: fc.constantFrom('x', 'é', '\u{1f600}', '\u200d').map((unit) => unit.repeat(maxLength)) },
  );

const withoutNul = (text: string): string => text.replaceAll('\u0000', '0');
const isValid = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000');

/** A parameter value as sent on the wire. */
const queryValue: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NASTY_INTEGERS) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 100 }).map(String) },
  { weight: 1, arbitrary: nastyText.map((text) => encodeURIComponent(text.toWellFormed())) },
);

/** A query string for an operation with these parameters. */
export function hostileQuery(names: readonly string[]): fc.Arbitrary<string> {
  const name = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...(names.length > 0 ? names : ['page'])) },
    { weight: 1, arbitrary: fc.constantFrom(...NASTY_NAMES).map((text) => encodeURIComponent(text.toWellFormed())) },
  );
  const pairs = fc.array(fc.tuple(name, queryValue), { minLength: 1, maxLength: 4 });
  return fc.oneof(
    { weight: 5, arbitrary: pairs.map((list) => list.map(([key, value]) => `${key}=${value}`).join('&')) },
    { weight: 2, arbitrary: fc.constantFrom(...NASTY_QUERIES) },
  );
}
