import fc from 'fast-check';
import { StructureCounter } from './index.js';

/** As the definition says, by a parser of its own: without strings, everything that is structural. */
const structureOf = (json: string): number => json.replace(/"(\\.|[^"\\])*"/gs, '').replace(/[^{}[\],:]/g, '').length;

const text = fc.string({ unit: fc.constantFrom('{', '}', '[', ',', ':', '"', '\\', 'a', 'é', '\u{1f600}', '\n') });
const json = fc
  .object({ key: text, values: [text, fc.integer(), fc.constant(null)], maxDepth: 4 })
  .map((value) => JSON.stringify(value));

const pushed = (parts: readonly Uint8Array[]): number => {
  const counter = new StructureCounter();
  return parts.reduce((_, part) => counter.push(part), 0);
};

describe('StructureCounter', () => {
  it.each([
    ['{"a":[1,{"b":"}{][,:"}]}', 9],
    [String.raw`["\"{","\\",{}]`, 6],
    [String.raw`"\\\",{[" , "{"`, 1],
    ['{},'.repeat(1_000), 3_000],
    [`{"payload":"${'A'.repeat(1_000)}"}`, 3],
    ['"never closed {{{{', 0],
    // JSON allows no line end in a string (RFC 8259, section 7); the comment of an event stream may have any quote.
    [': "\n\ndata: {"a":[{},{}]}', 12],
    ['"\\\r{},', 3],
  ])('counts what is outside strings: %#', (text, count) => {
    expect(pushed([Buffer.from(text)])).toBe(count);
  });

  it('counts the same however the bytes are cut, within escapes and characters too', () => {
    fc.assert(
      fc.property(json, fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1 }), (text, cuts) => {
        const bytes = Buffer.from(text);
        const parts: Uint8Array[] = [];
        for (let at = 0, n = 0; at < bytes.length; n++) {
          // A part may be empty, but not all of them.
          const size = cuts[n % cuts.length]! || n % 2;
          parts.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(pushed(parts)).toBe(structureOf(text));
        expect(pushed([...bytes].map((byte) => Uint8Array.of(byte)))).toBe(structureOf(text));
      }),
      { numRuns: 500 },
    );
  });
});
