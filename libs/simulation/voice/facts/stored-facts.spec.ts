import { factsOf } from '../testing/facts.js';
import { readFacts, storedFacts } from './stored-facts.js';

const SECRET = 'correct-horse-battery-staple';
const said = (...texts: string[]) => factsOf({ said: texts.map((text) => ({ atMs: 1_000, text, final: true })) });

describe('stored facts', () => {
  it('are read as they were', () => {
    const facts = said('We close at ten.');
    expect(readFacts(storedFacts(facts, [])!)).toEqual(facts);
  });

  it('have no secret that the agent repeats', () => {
    const stored = storedFacts(said(`Your key is ${SECRET}, right?`), [SECRET])!;
    expect(stored).not.toContain(SECRET);
    expect(readFacts(stored)!.said[0]!.text).toBe('Your key is [redacted], right?');
  });

  it.each(['', ' '])('are not stored if a secret is spread over two reports that meet at "%s"', (between) => {
    // Neither half is long enough to be removed by itself.
    const secret = `k7-9f3${between}q-x1z8`;
    expect(storedFacts(said('It is k7-9f3', 'q-x1z8.'), [secret])).toBeUndefined();
    expect(storedFacts(said('It is k7-9f3', 'no, wait'), [secret])).toBeDefined();
  });

  it('have no secret in what a recogniser heard, also where it stands in several words', () => {
    const secret = 'k7-9f3 q-x1z8';
    const words = ['k7-9f3', 'q-x1z8'].map((text, n) => ({ text, startMs: n * 500, endMs: n * 500 + 400 }));
    const pieces = [
      { startMs: 0, endMs: 1_000, text: secret, words },
      { startMs: 2_000, endMs: 3_000, text: 'Bye', words: [{ text: 'Bye', startMs: 2_000, endMs: 3_000 }] },
    ];
    const facts = factsOf({ recognised: { model: null, pieces, again: pieces } });
    const stored = storedFacts(facts, [secret])!;
    expect(stored).not.toMatch(/k7-9f3|q-x1z8/);
    expect(readFacts(stored)!.recognised!.again).toEqual([{ startMs: 0, endMs: 1_000, text: '[redacted]' }, pieces[1]]);
    const parts = [
      { ...pieces[0]!, text: 'k7-9f3', words: [words[0]!] },
      { ...pieces[1]!, text: 'q-x1z8' },
    ];
    expect(storedFacts(factsOf({ recognised: { model: null, pieces: parts } }), [secret])).toBeUndefined();
    expect(readFacts(storedFacts(facts, [])!)).toEqual(facts);
  });

  it('are unknown if another version wrote them', () => {
    const stored = storedFacts(factsOf({}), [])!;
    expect(readFacts(stored.replace('"version":1', '"version":2'))).toBeUndefined();
    expect(() => readFacts('{')).toThrow(SyntaxError);
  });
});
