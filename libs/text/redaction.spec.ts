import { hash } from 'node:crypto';
import { REDACTED, Redaction } from './redaction.js';

const SECRET = 'sk-Ab/1+é"&<9xyzQ~(7)';
const redaction = new Redaction([SECRET, 'pin1']);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const escaped = (escape: (char: string) => string) => SECRET.replace(/[^a-z0-9]/gi, escape);
const bare = (text: string) => base64(text).replace(/=+$/, '');

describe('Redaction', () => {
  it.each<[string, string]>([
    ['as it is', SECRET],
    ['in upper case', 'SK-AB/1+é"&<9XYZQ~(7)'],
    ['in JSON', JSON.stringify(SECRET).slice(1, -1)],
    ['in JSON with escaped slashes', JSON.stringify(SECRET).slice(1, -1).replaceAll('/', '\\/')],
    ['in JSON of ASCII only', JSON.stringify(SECRET).slice(1, -1).replace('é', '\\u00e9')],
    ['percent-encoded', encodeURIComponent(SECRET)],
    ['percent-encoded in lower case', encodeURIComponent(SECRET).toLowerCase()],
    ['percent-encoded strictly', encodeURIComponent(SECRET).replace('(', '%28').replace(')', '%29')],
    ['as a form field', new URLSearchParams({ '': SECRET }).toString().slice(1)],
    ['in HTML', SECRET.replace('&', '&amp;').replace('"', '&quot;').replace('<', '&lt;')],
    ['in HTML with numbers', SECRET.replace('&', '&#38;').replace('"', '&#34;').replace('<', '&#60;')],
    ['reversed', [...SECRET].reverse().join('')],
    ['fully percent-encoded', Buffer.from(SECRET).toString('hex').replace(/../g, '%$&')],
    [
      'fully escaped as in JSON',
      [...SECRET].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    ],
    ['fully escaped as in HTML', [...SECRET].map((c) => `&#${c.codePointAt(0)};`).join('')],
    ['fully escaped as in HTML, hexadecimal', [...SECRET].map((c) => `&#x${c.codePointAt(0)!.toString(16)};`).join('')],
    ['with its punctuation escaped as in JSON', escaped((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)],
    ['with its punctuation escaped as in HTML', escaped((c) => `&#${c.codePointAt(0)};`)],
    ['with its punctuation percent-encoded', escaped((c) => Buffer.from(c).toString('hex').replace(/../g, '%$&'))],
    ['hexadecimal', Buffer.from(SECRET).toString('hex')],
    ['of four characters', 'pin1'],
  ])('removes a secret %s', (_how, text) => {
    expect(redaction.clean(`{"authorization": "Bearer ${text}", "x": 1}`)).toBe(
      `{"authorization": "Bearer ${REDACTED}", "x": 1}`,
    );
    expect(redaction.clean(text.repeat(3))).not.toMatch(/sk-|xyz|pin/i);
  });

  it.each(['', 'u', 'us', 'user:', 'Bearer '])('removes a secret that is in base64 after "%s"', (before) => {
    for (const text of [
      base64(before + SECRET),
      bare(`${before}${SECRET}!`),
      Buffer.from(before + SECRET).toString('base64url'),
    ]) {
      const cleaned = redaction.clean(`Basic ${text}`);
      expect(cleaned).toContain(REDACTED);
      // What remains is the encoded text before the secret, and at most one character at either end.
      const rest = cleaned.slice('Basic '.length).replace(REDACTED, '').replace(/=+$/, '');
      expect(rest.length).toBeLessThanOrEqual(Math.ceil((before.length * 4) / 3) + 3);
    }
  });

  it('removes parts of at least twelve characters, such as both halves of a secret', () => {
    const key = 'k9Zq3vT7wLp2Xs8Rb5Nd';
    const parts = new Redaction([key]);
    for (let from = 0; from + 12 <= key.length; from++) {
      for (let to = from + 12; to <= key.length; to++) {
        expect(parts.clean(`<${key.slice(from, to)}>`)).toBe(`<${REDACTED}>`);
      }
    }
    expect(parts.clean(`…${key.slice(-4)}`)).toBe(`…${key.slice(-4)}`);
  });

  it('removes parts of a long secret', () => {
    const key = Array.from({ length: 1_000 }, (_, index) => (index * 7_919).toString(36)).join('');
    const parts = new Redaction([key]);
    for (let from = 0; from < 500; from += 7)
      expect(parts.clean(`<${key.slice(from, from + 40)}>`)).toBe(`<${REDACTED}>`);
  });

  it('keeps words that a secret merely contains', () => {
    const words = new Redaction(['provider-key-1', 'a1']);
    expect(words.clean('The provider has no key a1')).toBe('The provider has no key a1');
    expect(words.clean('provider-key-1')).toBe(REDACTED);
    expect(new Redaction([]).clean('All of it.')).toBe('All of it.');
  });

  // A cut text with half a pair is refused by databases and by the APIs of models: langchain-ai/deepagentsjs#631.
  it('removes whole characters where a part of a secret ends or begins with half a surrogate pair', () => {
    expect(new Redaction(['abcdefghijkl\u{1f600}']).clean('abcdefghijkl\u{1f601}!')).toBe(`${REDACTED}!`);
    const begins = new Redaction(['xy\u{1f600}abcdefghijkl']).clean('!\u{1fa00}abcdefghijkl');
    expect(begins).toBe(`!${REDACTED}`);
  });

  it('takes linear time for repetitive secrets and texts', () => {
    const begun = performance.now();
    const secret = 'a'.repeat(4_096);
    const text = `${'a'.repeat(4_095)}b`.repeat(64);
    expect(new Redaction([secret]).clean(text).length).toBeLessThan(text.length);
    expect(performance.now() - begun).toBeLessThan(1_000);
  });

  it('takes linear time for secrets that begin alike, and still removes each of them', () => {
    const secrets = Array.from({ length: 1_000 }, (_, n) => `aaaaaaaa${hash('md5', String(n)).slice(0, 16)}`);
    const many = new Redaction(['the first secret', ...secrets]);
    const processorTime = (length: number): number => {
      const before = process.cpuUsage();
      many.clean('aaaaaaaa'.repeat(length));
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    processorTime(2_000);
    expect(processorTime(20_000)).toBeLessThan(40 * processorTime(2_000));
    for (const secret of ['the first secret', ...secrets.slice(-3)])
      expect(many.clean(`<${secret}>`)).toBe(`<${REDACTED}>`);
  });
});
