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

  it('are unknown if another version wrote them', () => {
    const stored = storedFacts(factsOf({}), [])!;
    expect(readFacts(stored.replace('"version":1', '"version":2'))).toBeUndefined();
    expect(() => readFacts('{')).toThrow(SyntaxError);
  });
});
