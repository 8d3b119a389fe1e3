import fc from 'fast-check';
import { html } from './html.js';
import { HOSTILE } from './testing/hostile.js';
import { visible } from '../text/index.js';

/** Arbitrary text with a high share of HTML syntax. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('<', '>', '"', "'", '`', '&', '&lt;', '&#0;', '\u0000', '\u202E', '\uD800', 'a', '=', '/'))
    .map((parts) => parts.join('')),
  fc.constantFrom(...HOSTILE),
);

const decoded = (escaped: string) =>
  escaped.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));

describe('html', () => {
  it('keeps values inside text and attributes, and changes only unsafe characters', () => {
    fc.assert(
      fc.property(text, (value) => {
        const inside = html`${value}`.toString();
        expect(inside).not.toMatch(/[<>"'`]/);
        expect(inside).not.toMatch(/&(?!#\d+;)/);
        expect(decoded(inside)).toBe(visible(value));
        expect(html`<a title="${value}">${value}</a>`.toString()).toBe(`<a title="${inside}">${inside}</a>`);
      }),
    );
  });

  it('escapes a value once, even in nested fragments', () => {
    const piece = html`<b>${'<&>'}</b>`;
    expect(html`<p>${[piece, [piece, '<']]}</p>`.toString()).toBe(
      '<p><b>&#60;&#38;&#62;</b><b>&#60;&#38;&#62;</b>&#60;</p>',
    );
  });

  it('escapes objects that only look like fragments', () => {
    const forged = { toString: () => '<script>' };
    expect(() => html`${forged as never}`).toThrow(TypeError);
  });

  it('renders null, undefined and false as nothing, and zero as a number', () => {
    expect(html`${null}${undefined}${false}${0}`.toString()).toBe('0');
  });
});
