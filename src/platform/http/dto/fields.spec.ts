import 'reflect-metadata';
import { validateSync } from 'class-validator';
import { codePoints, textViolation } from '../../../../libs/json-input/index.js';
import { UrlField } from './fields.js';

class WithUrl {
  @UrlField({ description: 'Address' })
  url: unknown;
}

const isUrl = (url: unknown): boolean => validateSync(Object.assign(new WithUrl(), { url })).length === 0;

describe('fields', () => {
  it('counts code points, as PostgreSQL and JSON Schema do', () => {
    for (const text of ['', 'abc', '\u{1f600}x', 'e\u0301', '\u{10ffff}\ufeff']) {
      expect(codePoints(text)).toBe([...text].length);
    }
  });

  it.each([
    ['valid \u{1f600} \ufeff \uffff', undefined],
    ['a\u0000', 'must not contain the character U+0000'],
    ['\ud83d', 'must not contain an unpaired surrogate'],
    ['\ude00\ud83d', 'must not contain an unpaired surrogate'],
  ])('returns for the text %j the violation: %s', (text, violation) => {
    expect(textViolation(text)).toBe(violation);
  });

  it.each([
    'https://example.com',
    'HTTP://EXAMPLE.com:80/a/b;c=d?e=f/?g#h?i',
    'http://[::1]:8080/',
    'http://user:pass@localhost/%20~a',
    'https://xn--bcher-kva.example/',
    'http://127.0.0.1',
  ])('accepts the address %s', (url) => {
    expect(isUrl(url)).toBe(true);
  });

  it.each([
    '',
    'example.com',
    '//example.com',
    'https:example.com',
    'https://',
    'ftp://example.com',
    'javascript://example.com/%0aalert(1)',
    'https://example.com/ ',
    ' https://example.com',
    'https://exa\nmple.com',
    'https://example.com/\u00e9',
    'https://example.com/%zz',
    'https://example.com:99999/',
    'https://[::zz]/',
    'https://a b/',
    'https://example.com/"<>',
    'https://example.com/#a#b',
    1,
    null,
    ['https://example.com'],
  ])('rejects the address %j', (url) => {
    expect(isUrl(url)).toBe(false);
  });
});
